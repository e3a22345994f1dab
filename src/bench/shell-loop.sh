#!/bin/bash
# shell-loop.sh PLACE SKILL SECONDS TASK...: what a rollout does, as one would write it by hand. Prints each reward.
place=$1 skill=$2 seconds=$3
shift 3
for task in "$@"; do
  root=$place/$(basename "$task")
  mkdir -p "$root/app" "$root/home" "$root/logs/agent" "$root/tmp"
  cp "$task/environment/note.txt" "$root/app/"
  cp -r "$skill" "$root/skill"
  export APP_DIR=$root/app LOGS_DIR=$root/logs HOME=$root/home TMPDIR=$root/tmp
  cd "$APP_DIR" || exit 1
  cat "$root/skill/SKILL.md" > "$LOGS_DIR/agent/skill.txt"
  sh -c "sleep $seconds" > "$LOGS_DIR/agent/output.txt" 2>&1
  cp -r "$task/tests" "$root/tests"
  mkdir "$LOGS_DIR/verifier"
  TESTS_DIR=$root/tests bash "$root/tests/test.sh" > "$LOGS_DIR/output.txt" 2>&1
  read -r reward < "$LOGS_DIR/verifier/reward.txt"
  echo "$reward"
  cd / && rm -rf "$root"
done
