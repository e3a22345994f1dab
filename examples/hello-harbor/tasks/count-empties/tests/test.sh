#!/bin/sh
# Passes when count.txt holds the number of containers and nothing else.
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

[ -f "$APP_DIR/count.txt" ] || verdict 0 "count.txt is missing"
found=$(tr -d ' \t\n' < "$APP_DIR/count.txt")
case "$found" in
  '' | *[!0-9]*) verdict 0 "count.txt is not a bare number" ;;
esac
[ "$found" = "$(cat "$TESTS_DIR/expected/count.txt")" ] || verdict 0 "count.txt holds another number"
verdict 1 "the containers are counted"
