#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
awk '{ print NR ". " $0 }' rota.txt > numbered.txt
