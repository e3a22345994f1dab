import { expect } from 'bun:test';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atVeryEnd } from './at-end.ts';
import { builtBinary } from './built-binary.ts';

// The built binary as tests run it: a real process in a folder of its own, with the environment that the test gives.

/** Longest time that one command of a test may take. */
const DEADLINE_MS = 60_000;

/** The binary that the build left; built here when it is missing or older than what it is made of. */
export const binary: string = builtBinary();

/** How a process came to its end, and all that it wrote. */
export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Running = {
  readonly pid: number;
  /** What it has written so far. */
  readonly stdout: () => string;
  readonly ended: Promise<Ended>;
  readonly over: () => boolean;
  readonly kill: (signal: NodeJS.Signals) => void;
};

export type RunOptions = {
  /** The whole environment; default: TMPDIR of the place alone. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

/** A deadline in place of the common one. */
type Patience = { readonly deadlineMs?: number };

const running = new Set<number>();

/** Starts a command with nothing on its stdin. */
export function start(command: readonly string[], options: Required<RunOptions> & Patience): Running {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: options.cwd, env: options.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${program} did not start`);
  running.add(pid);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    stdout += piece;
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    stderr += piece;
  });
  let over = false;
  const ended = new Promise<Ended>((done, failed) => {
    const deadline = setTimeout(() => {
      child.kill('SIGKILL');
      failed(new Error(`${command.join(' ')} did not end in time\n${stdout}\n${stderr}`));
    }, options.deadlineMs ?? DEADLINE_MS);
    child.on('exit', () => {
      over = true;
      running.delete(pid);
    });
    child.on('close', (code, signal) => {
      clearTimeout(deadline);
      done({ code, signal, stdout, stderr });
    });
  });
  ended.catch(() => {}); // told to whoever awaits it
  return { pid, stdout: () => stdout, ended, over: () => over, kill: (signal) => child.kill(signal) };
}

/** Looks again and again until it holds; fails with `what` after the deadline. */
export async function until(what: string, holds: () => boolean, deadlineMs = DEADLINE_MS): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((next) => setTimeout(next, 2));
  }
}

/** A folder for one test: a working directory, and a temp folder that only our process is given. */
export class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'skillopt-e2e-')));
  readonly dir = join(this.root, 'work');
  readonly temp = join(this.root, 'temp');

  /** `shared`: kept until the last test of all files has run. */
  constructor(options: { readonly shared?: boolean } = {}) {
    mkdirSync(this.dir);
    mkdirSync(this.temp);
    if (options.shared) atVeryEnd(() => rmSync(this.root, { recursive: true, force: true }));
    else places.push(this);
  }

  path(...names: readonly string[]): string {
    return join(this.dir, ...names);
  }

  read(...names: readonly string[]): string {
    return readFileSync(this.path(...names), 'utf8');
  }

  /** Starts `skillopt ARGS` here. */
  start(args: readonly string[], options: RunOptions & Patience = {}): Running {
    return start([binary, ...args], { cwd: this.dir, env: { TMPDIR: this.temp }, ...options });
  }

  /** Runs `skillopt ARGS` here to its end. */
  run(args: readonly string[], options: RunOptions & Patience = {}): Promise<Ended> {
    return this.start(args, options).ended;
  }

  /** Runs `skillopt ARGS`, which has to end well. */
  async succeed(args: readonly string[], options: RunOptions & Patience = {}): Promise<Ended> {
    const end = await this.run(args, options);
    if (end.code !== 0) throw new Error(`skillopt ${args.join(' ')}: exit ${end.code}\n${end.stdout}\n${end.stderr}`);
    return end;
  }

  /** Runs a line of sh here, with the binary as `$SKILLOPT`. */
  shell(line: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return start(['/bin/sh', '-c', line], {
      cwd: this.dir,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', TMPDIR: this.temp, SKILLOPT: binary, ...env },
    }).ended;
  }

  /** Whole lines of a session's log so far. */
  lines(session: string): number {
    const log = this.path(session, 'skillopt.jsonl');
    return existsSync(log) ? readFileSync(log, 'latin1').split('\n').length - 1 : 0;
  }

  events(session: string): readonly LogLine[] {
    const whole = this.read(session, 'skillopt.jsonl').split('\n').slice(0, -1);
    return whole.map((line) => JSON.parse(line) as LogLine);
  }

  /** What the rollouts of a session left: processes that carry its mark, and folders in the temp folder. */
  leftovers(session: string): readonly string[] {
    const id = String(this.events(session)[0]?.session);
    const folders = readdirSync(this.temp).filter((name) => name.startsWith('skillopt-'));
    return [...markedProcesses(id), ...folders];
  }
}

export type LogLine = { readonly seq: number; readonly type: string; readonly [field: string]: unknown };

/** Living processes of the rollouts of a session (Linux; elsewhere none are seen). */
export function markedProcesses(sessionId: string): readonly string[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`SKILLOPT_ROLLOUT=${sessionId}/`);
      } catch {
        return false; // it ended while we looked, or is not ours
      }
    });
}

const places: Place[] = [];
const undo: (() => void)[] = [];

/** Runs before the places are removed, the last one first: unmounts, ends of helpers. */
export function atEnd(action: () => void): void {
  undo.push(action);
}

/** Ends what is still running and removes every place; for `afterAll`. */
export function removePlaces(): void {
  for (const pid of running) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it is gone already
    }
  }
  for (const action of undo.splice(0).reverse()) action();
  for (const place of places.splice(0)) rmSync(place.root, { recursive: true, force: true });
}

/** The one JSON value that stdout holds. */
export function jsonOf(end: Ended): Record<string, unknown> {
  return JSON.parse(end.stdout) as Record<string, unknown>;
}

/** A failure as a user meets it on stderr: exit code, and what, where and fix by what they have to say. */
export function expectFailure(
  end: Ended,
  expected: { readonly code: number; readonly what: RegExp; readonly where: RegExp; readonly fix: RegExp },
): void {
  const [, what = '', where = '', fix = ''] =
    /^failed (.*)\nwhere {2}([\s\S]*?)\nfix {4}([\s\S]*)\n$/m.exec(end.stderr) ?? [];
  expect({ code: end.code, what, where, fix }).toEqual({
    code: expected.code,
    what: expect.stringMatching(expected.what),
    where: expect.stringMatching(expected.where),
    fix: expect.stringMatching(expected.fix),
  });
}
