#!/bin/sh
# Passes when each line of the manifest stands there once, in the old order.
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

expect manifest.txt "not each line once, in the old order"
verdict 1 "each line is there once"
