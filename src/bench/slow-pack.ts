import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A session whose every rollout sleeps in a process of its agent; its verifier compares a file. */
export type SlowSession = {
  /** The session's directory. */
  readonly dir: string;
  readonly skill: string;
  /** Folders of the selection tasks. */
  readonly selection: readonly string[];
};

/** Lays skill, pack and config out below `folder`. The seed passes every task, so that a run is little but its baseline. */
export function layOutSlowSession(folder: string, sleepSec: number, selectionTasks: number): SlowSession {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const names = (letter: string, many: number) =>
    Array.from({ length: many }, (_, n) => `${letter}${String(n + 1).padStart(2, '0')}`);
  const splits = { train: names('train-', 2), selection: names('s', selectionTasks), test: names('test-', 2) };
  write('slow/SKILL.md', skillText(sleepSec));
  for (const id of Object.values(splits).flat()) {
    write(`tasks/${id}/instruction.md`, `Task ${id}: take your time, and leave the note as it is.\n`);
    write(`tasks/${id}/task.toml`, taskToml);
    write(`tasks/${id}/environment/Dockerfile`, 'FROM debian:12-slim\nWORKDIR /app\nCOPY note.txt /app/\n');
    write(`tasks/${id}/environment/note.txt`, `${id}\n`);
    write(`tasks/${id}/tests/expected.txt`, `${id}\n`);
    write(`tasks/${id}/tests/test.sh`, testScript);
    chmodSync(join(folder, `tasks/${id}/tests/test.sh`), 0o755);
  }
  const config = { skill: '../slow', pack: '../tasks', agent: 'rehearsal', optimizer: 'rehearsal', splits };
  write('session/skillopt.config.json', JSON.stringify(config));
  write('session/rehearsal.json', JSON.stringify(rehearsal));
  return {
    dir: join(folder, 'session'),
    skill: join(folder, 'slow'),
    selection: splits.selection.map((id) => join(folder, 'tasks', id)),
  };
}

const skillText = (sleepSec: number) => `---
name: slow
description: Takes its time.
---

# Slow

- When the task says "take your time", run \`sleep ${sleepSec}\`.
`;

const taskToml = `version = "1.0"

[metadata]
commands = ["cat", "cmp", "sh", "sleep"]

[agent]
timeout_sec = 60.0

[verifier]
timeout_sec = 60.0
`;

const testScript = `#!/bin/bash
app=\${APP_DIR:-/app}
tests=\${TESTS_DIR:-/tests}
logs=\${LOGS_DIR:-/logs}
if cmp "$app/note.txt" "$tests/expected.txt"; then
  echo 1 > "$logs/verifier/reward.txt"
else
  echo 0 > "$logs/verifier/reward.txt"
fi
`;

const rehearsal = {
  version: 1,
  edits: [
    {
      kind: 'neutral',
      phrase: 'take your time',
      op: 'append_section',
      target: '',
      content: '- Be patient.',
      reason: 'It is asked for.',
    },
  ],
};
