#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
awk '!seen[$0]++' manifest.txt > manifest.new
mv manifest.new manifest.txt
