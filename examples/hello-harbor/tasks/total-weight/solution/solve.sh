#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
awk -F ';' 'NR > 1 { sum += $2 } END { print sum }' cargo.csv > total.txt
