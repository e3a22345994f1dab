#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
printf '%s arrived\n' "$(cat ship.txt)" >> logbook.txt
