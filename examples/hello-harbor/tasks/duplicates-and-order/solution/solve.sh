#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
LC_ALL=C sort -u -o manifest.txt manifest.txt
