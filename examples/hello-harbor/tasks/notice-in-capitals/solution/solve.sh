#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
tr '[:lower:]' '[:upper:]' < notice.txt > sign.txt
