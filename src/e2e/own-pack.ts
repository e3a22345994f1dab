import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from '../ports/hash.ts';
import { type Ended, Place, type Running } from './binary.ts';
import { essence } from './sessions.ts';
import { Terminal, type TerminalOptions } from './terminal.ts';

// A skill and a pack as a user might bring them: eight small tasks of a post office, and a skill that knows one of
// the three things they ask for.

/** Writes files below a folder; a path that ends in `*` is executable. */
export function writeFiles(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(dir, name.replace(/\*$/, ''));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, name.endsWith('*') ? 0o755 : 0o644);
  }
}

/** Hash over every file below a folder, its name and its content. */
export function hashOf(dir: string): string {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return sha256(names.map((name) => `${name}\0${sha256(readFileSync(name, 'latin1'))}\n`).join(''));
}

export const seedSkill = `---
name: post-office
description: How letters are handled at the post office. Use it for every task about a letter.
---
# Post office

- When the task says "weigh the letter", run \`wc -c < letter.txt > weight.txt\`.

## Rules

Leave letter.txt as it is.
`;

type Job = { readonly phrase: string; readonly result: string; readonly command: string };
const jobs = {
  weigh: { phrase: 'weigh the letter', result: 'weight.txt', command: 'wc -c < letter.txt > weight.txt' },
  stamp: { phrase: 'stamp the letter', result: 'stamped.txt', command: "sed '$a STAMPED' letter.txt > stamped.txt" },
  sign: { phrase: 'sign the letter', result: 'signed.txt', command: "sed '1i SIGNED' letter.txt > signed.txt" },
} as const satisfies Record<string, Job>;

/** The tasks by split; the first word of an id names the job. */
export const splits = {
  train: ['stamp-for-ada', 'sign-for-bo'],
  selection: ['stamp-for-cy', 'sign-for-di', 'stamp-for-eve'],
  test: ['stamp-for-fay', 'sign-for-gus', 'weigh-for-hal'],
} as const;
export const allTasks: readonly string[] = [...splits.train, ...splits.selection, ...splits.test];

const jobOf = (id: string): Job => jobs[id.split('-')[0] as keyof typeof jobs];

/** Commands of sh that wait while the file lies in `$HOLD_DIR`; see `OwnSession.block`. */
const waitFor = (file: string) =>
  [
    `if [ -e "$HOLD_DIR/${file}" ] && grep -q -F -f "$HOLD_DIR/${file}" "$HOLD_DIR/log"; then`,
    `{ [ ! -e "$HOLD_DIR/stubborn" ] || trap '' TERM HUP INT; };`,
    `echo waiting > "$HOLD_DIR/waiting/$$";`,
    `while [ -e "$HOLD_DIR/${file}" ]; do sleep 0.02; done;`,
    'fi',
  ].join(' ');

/** A line of a skill by which the agent waits in every task while a file `agent` lies in `$HOLD_DIR`. */
const agentWaits = `- When the task says "the letter", run \`${waitFor('agent')}\`.`;

/** The files of one task. Its verifier waits while a file of the task's name lies in `$HOLD_DIR`. */
export function taskFiles(id: string): Record<string, string> {
  const job = jobOf(id);
  const name = id.split('-').at(-1) ?? '';
  return {
    [`${id}/task.toml`]: `[agent]
timeout_sec = 60.0

[verifier]
timeout_sec = 60.0

[environment.env]
HOLD_DIR = "\${HOLD_DIR:-/nowhere}"
`,
    [`${id}/instruction.md`]: `Please ${job.phrase} for ${name}. It lies in letter.txt; put the result into ${job.result}.\n`,
    [`${id}/environment/Dockerfile`]: 'FROM debian:bookworm-slim\nWORKDIR /app\nCOPY letter.txt /app/\n',
    [`${id}/environment/letter.txt`]: `Dear ${name},\nall is well.\n`,
    [`${id}/tests/test.sh*`]: `#!/bin/sh
APP_DIR="\${APP_DIR:-/app}"
LOGS_DIR="\${LOGS_DIR:-/logs}"
${waitFor(id)}
cd "$APP_DIR"
(${job.command.replace(` > ${job.result}`, '')}) > expected.txt
if cmp -s expected.txt ${job.result}; then reward=1; else reward=0; fi
echo "$reward" > "$LOGS_DIR/verifier/reward.txt"
`,
  };
}

const line = (job: Job) => `- When the task says "${job.phrase}", run \`${job.command}\`.`;
const edit = (kind: string, job: Job) => ({
  kind,
  phrase: job.phrase,
  op: 'insert_after',
  target: line(jobs.weigh),
  content: line(job),
  reason: `No line says how to ${job.phrase}.`,
});

/** The seed, with an agent that can be kept waiting. */
export const seedSkillThatWaits = `${seedSkill}\n${agentWaits}\n`;

/** What the rehearsal optimizer may propose. */
export const rehearsal = { version: 1, edits: [edit('useful', jobs.stamp), edit('useful', jobs.sign)] };

/** The skill after both edits. */
export const bestSkill = seedSkill.replace(line(jobs.weigh), [jobs.weigh, jobs.sign, jobs.stamp].map(line).join('\n'));

/** The config of a session that lies beside `skill/` and `pack/`. */
export const config = {
  skill: '../post-office',
  pack: '../pack',
  agent: 'rehearsal',
  optimizer: 'rehearsal',
  allowUnsandboxed: true,
  sandbox: { kind: 'none' },
  splits,
  search: { draftSize: 2, dryRounds: 2, memory: true },
  budget: { rollouts: 100 },
  workers: 4,
};

/** A user's skill, pack and session (in `session/`), laid out in a place. */
export class OwnSession {
  constructor(
    readonly place: Place,
    options: { readonly skill?: string; readonly config?: Readonly<Record<string, unknown>> } = {},
  ) {
    writeFiles(place.dir, { 'post-office/SKILL.md': options.skill ?? seedSkill });
    for (const id of allTasks) writeFiles(place.path('pack'), taskFiles(id));
    writeFiles(place.dir, { 'session/rehearsal.json': JSON.stringify(rehearsal) });
    this.configure(options.config ?? {});
    mkdirSync(join(this.hold, 'waiting'), { recursive: true });
    symlinkSync(place.path('session/skillopt.jsonl'), join(this.hold, 'log'));
  }

  private get hold(): string {
    return join(this.place.root, 'hold');
  }

  /** Files that the user has laid into the session's folder. */
  readonly brought: readonly string[] = ['rehearsal.json', 'skillopt.config.json'];

  /** The environment of its commands. */
  get env(): Readonly<Record<string, string>> {
    return { TMPDIR: this.place.temp, HOLD_DIR: this.hold };
  }

  /** Starts a command in a terminal; as `$SKILLOPT` in a line of sh when it is a text. */
  inTerminal(command: readonly string[] | string, options: TerminalOptions = {}): Terminal {
    const more = { ...options, env: { ...this.env, ...options.env } };
    return typeof command === 'string'
      ? Terminal.shell(this.place, command, more)
      : Terminal.open(this.place, command, more);
  }

  start(args: readonly string[]): Running {
    return this.place.start(args, { env: this.env });
  }

  run(args: readonly string[]): Promise<Ended> {
    return this.place.run(args, { env: this.env });
  }

  succeed(args: readonly string[]): Promise<Ended> {
    return this.place.succeed(args, { env: this.env });
  }

  /** Writes the config, with other values for some keys; undefined takes one away. */
  configure(more: Readonly<Record<string, unknown>>): void {
    writeFiles(this.place.dir, { 'session/skillopt.config.json': JSON.stringify({ ...config, ...more }, null, 2) });
  }

  /**
   * Keeps the verifiers of these tasks waiting, or the agent (`agent`), from the time when the log holds a line with
   * `since`. Each that waits says so by a file in `waiting`; `stubborn` makes them deaf to signals.
   */
  block(ids: readonly string[], since = '"seq":1,'): void {
    for (const id of ids) writeFileSync(join(this.hold, id), `${since}\n`);
  }

  /** Verifiers and agents that have come to wait so far. */
  waiting(): number {
    return readdirSync(join(this.hold, 'waiting')).length;
  }

  /** Lets them go on. */
  free(): void {
    for (const entry of readdirSync(this.hold, { withFileTypes: true }))
      if (entry.isFile()) rmSync(join(this.hold, entry.name));
  }

  /** Hash over the user's own files: skill and pack. */
  get sources(): string {
    return `${hashOf(this.place.path('post-office'))} ${hashOf(this.place.path('pack'))}`;
  }

  has(...names: readonly string[]): boolean {
    return existsSync(this.place.path('session', ...names));
  }
}

const whole = new Map<string, Promise<unknown>>();

/** The essence of a session that ran to its end without being disturbed: search alone, or with its sealed test. */
export function undisturbed(o: { readonly skill?: string; readonly finalize?: boolean } = {}): Promise<unknown> {
  const key = JSON.stringify(o);
  const known = whole.get(key);
  if (known !== undefined) return known;
  const now = (async () => {
    const own = new OwnSession(new Place(), o.skill === undefined ? {} : { skill: o.skill });
    await own.succeed(['run', 'session', ...(o.finalize ? ['--finalize'] : [])]);
    return essence(own.place, 'session');
  })();
  whole.set(key, now);
  return now;
}
