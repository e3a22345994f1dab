#!/bin/sh
# Passes when the logbook runs from the last entry to the first, with its times in UTC.
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

expect logbook.txt "not all entries from the last to the first with their times in UTC"
verdict 1 "the latest entry is on top and the times are in UTC"
