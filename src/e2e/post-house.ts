import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, Place, type Running } from './binary.ts';
import { writeFiles } from './own-pack.ts';

// A session whose tasks can only be done, and only be judged, with what is preloaded: a command of an npm package.

const greet = '- When the task says "greet the guest", run `hello > said.txt; printf "%s" "$GUEST_WORD" > word.txt`.';
const seat = '- When the task says "seat the guest", run `hello > said.txt; printf "%s" "$GUEST_WORD" > word.txt`.';

const skill = `---
name: post-house
description: How guests are received. Use it for every task about a guest.
---
# Post house

${greet}
`;

/** The tasks by split; those of the second kind need the line that the optimizer adds. */
const splits = {
  train: ['greet-ada', 'seat-bo'],
  selection: ['greet-cy', 'seat-di', 'seat-eve'],
  test: ['greet-fay', 'seat-gus'],
};

const taskFiles = (id: string, hold: string) => ({
  [`pack/${id}/task.toml`]:
    '[agent]\ntimeout_sec = 60.0\n\n[verifier]\ntimeout_sec = 60.0\n\n[metadata]\ncommands = ["hello"]\n',
  [`pack/${id}/instruction.md`]: `Please ${id.replace('-', ' the guest ')}.\n`,
  [`pack/${id}/environment/Dockerfile`]: 'FROM debian:bookworm-slim\nWORKDIR /app\n',
  [`pack/${id}/tests/test.sh*`]: `#!/bin/sh
cd "\${APP_DIR:-/app}"
echo "the verifier was told $GUEST_WORD"
while [ -e "${hold}" ]; do sleep 0.02; done
reward=0
hello | cmp -s - said.txt && test -n "$GUEST_WORD" && test "$(cat word.txt)" = "$GUEST_WORD" && reward=1
echo "$reward" > "\${LOGS_DIR:-/logs}/verifier/reward.txt"
`,
});

const edits = {
  version: 1,
  edits: [
    {
      kind: 'useful',
      phrase: 'seat the guest',
      op: 'insert_after',
      target: greet,
      content: seat,
      reason: 'No line says how.',
    },
  ],
};

/** Secret in all that it looks like; of no form that is known. */
export const guestWord = 'Xyzzy-42-plugh';

export class PostHouse {
  readonly place = new Place();
  readonly home = join(this.place.root, 'home');
  /** While it exists verifiers without walls wait. */
  readonly hold = join(this.place.root, 'hold');
  env: Record<string, string> = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TMPDIR: this.place.temp,
    HOME: this.home,
    GUEST_WORD: guestWord,
  };

  constructor(preloads: object = {}, more: object = {}) {
    mkdirSync(this.home);
    writeFiles(this.place.dir, { 'post-house/SKILL.md': skill, 'session/rehearsal.json': JSON.stringify(edits) });
    for (const id of Object.values(splits).flat()) writeFiles(this.place.dir, taskFiles(id, this.hold));
    this.package('hello');
    this.configure({ npm: ['../hello'], env: ['GUEST_WORD'], ...preloads }, more);
  }

  /** An npm package with one command. */
  package(name: string, word = `from ${name}`): void {
    writeFiles(this.place.dir, {
      [`${name}/package.json`]: JSON.stringify({ name, version: '1.0.0', bin: 'cli.js' }),
      [`${name}/cli.js*`]: `#!/usr/bin/env node\nconsole.log(${JSON.stringify(word)});\n`,
    });
  }

  configure(preloads: object, more: object = {}): void {
    const config = {
      skill: '../post-house',
      pack: '../pack',
      agent: 'rehearsal',
      optimizer: 'rehearsal',
      allowUnsandboxed: true,
      splits,
      preloads,
      search: { draftSize: 1, dryRounds: 2, memory: true },
      budget: { rollouts: 40 },
      workers: 2,
      ...more,
    };
    writeFiles(this.place.dir, { 'session/skillopt.config.json': JSON.stringify(config, null, 2) });
  }

  start = (args: readonly string[]): Running => this.place.start(args, { env: this.env });
  run = (args: readonly string[]): Promise<Ended> => this.place.run(args, { env: this.env });
  succeed = (args: readonly string[]): Promise<Ended> => this.place.succeed(args, { env: this.env });

  /** All that the session's directory holds in texts, but for what the user wrote and what was installed. */
  written(): string {
    const dir = this.place.path('session');
    const names = readdirSync(dir, { recursive: true, encoding: 'utf8', withFileTypes: true });
    return names
      .filter((e) => e.isFile() && !e.parentPath.includes('node_modules') && !e.name.endsWith('.db'))
      .map((e) => readFileSync(join(e.parentPath, e.name), 'latin1'))
      .join('\n');
  }

  /** Name of the session's prefix; null = there is none. */
  prefix(): string | null {
    const dir = this.place.path('session/.skillopt/preloads');
    return existsSync(dir) ? (readdirSync(dir).find((name) => /^[0-9a-f]{12}$/.test(name)) ?? null) : null;
  }

  has = (...names: readonly string[]): boolean => existsSync(this.place.path('session', ...names));
}
