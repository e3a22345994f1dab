#!/bin/sh
# Passes when total.txt holds the sum of the weights and nothing else.
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

[ -f "$APP_DIR/total.txt" ] || verdict 0 "total.txt is missing"
found=$(tr -d ' \t\n' < "$APP_DIR/total.txt")
case "$found" in
  '' | *[!0-9]*) verdict 0 "total.txt is not a bare number" ;;
esac
[ "$found" = "$(cat "$TESTS_DIR/expected/total.txt")" ] || verdict 0 "total.txt holds another sum"
verdict 1 "the weights are added up"
