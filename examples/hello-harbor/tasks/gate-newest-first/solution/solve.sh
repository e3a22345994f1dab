#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
awk '{ line[NR] = $0 } END { for (i = NR; i > 0; i--) print line[i] }' logbook.txt > logbook.new
mv logbook.new logbook.txt
