#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
awk '{ line[NR] = $0 } END { for (i = NR; i > 0; i--) print line[i] }' logbook.txt > logbook.new
mv logbook.new logbook.txt
awk '{
  hour = (substr($0, 1, 2) + 22) % 24
  printf "%02d%s\n", hour, substr($0, 3)
}' logbook.txt > logbook.new
mv logbook.new logbook.txt
