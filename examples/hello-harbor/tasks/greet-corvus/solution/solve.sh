#!/bin/sh
set -eu
cd "${APP_DIR:-/app}"
printf 'Hello, %s!\n' "$(cat ship.txt)" > hello.txt
