import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A skill and tasks that a coding agent is measured on: it reads the skill, runs one command, and says so. */
export type AgentGround = {
  readonly skill: string;
  readonly skillName: string;
  readonly pack: string;
  /** Folders of the tasks. */
  readonly tasks: readonly string[];
  readonly instruction: string;
};

/** Lays it out below `folder`. */
export function layOutAgentGround(folder: string, tasks: number): AgentGround {
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    chmodSync(join(folder, path), mode);
  };
  const names = Array.from({ length: tasks }, (_, n) => `make-${n + 1}`);
  write('widget/SKILL.md', skillText);
  for (const name of names) {
    write(`pack/${name}/task.toml`, taskToml);
    write(`pack/${name}/instruction.md`, instruction);
    write(`pack/${name}/environment/Dockerfile`, 'FROM debian:12-slim\nWORKDIR /app\nCOPY note.txt /app/\n');
    write(`pack/${name}/environment/note.txt`, `${name}\n`);
    write(`pack/${name}/tests/test.sh`, testScript, 0o755);
  }
  return {
    skill: join(folder, 'widget'),
    skillName: 'widget',
    pack: join(folder, 'pack'),
    tasks: names.map((name) => join(folder, 'pack', name)),
    instruction,
  };
}

const instruction = 'Please make a widget: a file widget.txt in the current folder.\n';

const skillText = `---
name: widget
description: SCRIPTED Makes widgets. Use when asked for a widget.
---
# Widgets

One command makes a widget.

DO: echo widget-ok > widget.txt
SAY: WIDGET-DONE
`;

const taskToml = `version = "1.0"

[metadata]
commands = ["cat"]

[agent]
timeout_sec = 120.0

[verifier]
timeout_sec = 60.0
`;

const testScript = `#!/bin/bash
app=\${APP_DIR:-/app}
logs=\${LOGS_DIR:-/logs}
[ "$(cat "$app/widget.txt" 2> /dev/null)" = widget-ok ] && reward=1 || reward=0
echo $reward > "$logs/verifier/reward.txt"
`;

/** The rollouts that an eval's log tells of. */
export function rolloutsIn(log: string): readonly FinishedRollout[] {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as FinishedRollout).filter(({ type }) => type === 'rollout.finished');
}

export type FinishedRollout = {
  readonly type: string;
  readonly durationMs: number;
  readonly outcome: { readonly status: string; readonly hard?: number; readonly read?: boolean | null };
};
