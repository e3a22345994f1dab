#!/bin/sh
# Passes when manifest.txt holds every line it held before, sorted.
set -u
APP_DIR="${APP_DIR:-/app}"
TESTS_DIR="${TESTS_DIR:-/tests}"
LOGS_DIR="${LOGS_DIR:-/logs}"
mkdir -p "$LOGS_DIR/verifier"
rm -f "$LOGS_DIR/verifier/reward.txt" "$LOGS_DIR/verifier/reward.json"

verdict() {
  echo "$2"
  echo "$1" > "$LOGS_DIR/verifier/reward.txt"
  exit 0
}

# Lines are compared; blank lines at the end do not matter.
expect() {
  [ -f "$APP_DIR/$1" ] || verdict 0 "$1 is missing"
  [ "$(cat "$APP_DIR/$1")" = "$(cat "$TESTS_DIR/expected/$1")" ] || verdict 0 "$1: $2"
}

expect manifest.txt "the lines are not the old ones in sorted order"
verdict 1 "manifest.txt is sorted and complete"
