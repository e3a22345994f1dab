#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
{ head -n 1 cargo.csv; tail -n +2 cargo.csv | sort -t ';' -k 2,2nr; } > cargo.new
mv cargo.new cargo.csv
