#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
mkdir -p backup
cp manifest.txt backup/
LC_ALL=C sort -o manifest.txt manifest.txt
