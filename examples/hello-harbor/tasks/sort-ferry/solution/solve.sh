#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
LC_ALL=C sort -o manifest.txt manifest.txt
