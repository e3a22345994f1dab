#!/bin/sh
# Passes when hello.txt greets the ship by its name.
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

expect hello.txt "not the greeting that the task describes"
verdict 1 "the ship is greeted"
