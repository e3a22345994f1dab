import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, type SkilloptError } from '../../../ports/failure.ts';
import { runProcess } from '../../../process/run-process.ts';
import type { CliKind } from './cli-kind.ts';
import { findProgram, type Program, startWords } from './find-program.ts';
import { versionIn } from './version-words.ts';

/** How long a program may take to print its version: the first start of a large one is slow. */
const versionMs = 60_000;

/** What a program answered that was asked for its version. */
export type VersionAnswer =
  | { readonly kind: 'version'; readonly version: string }
  | { readonly kind: 'none'; readonly why: string };

/**
 * A coding agent as it is installed here. It is looked for once, and so is its version: one that is replaced by another
 * version while a session runs is not started any more, so that no outcome stands under a version that it is not of.
 */
export class InstalledCli {
  #found: Program | null = null;
  #version: Promise<VersionAnswer> | null = null;
  /** By what its file was known when it told its version. */
  #file: string | null = null;

  constructor(
    private readonly kind: Pick<CliKind, 'name' | 'program' | 'npmPackage' | 'tested' | 'versionArgs'>,
    private readonly path: string,
  ) {}

  /** Null = it is not on PATH. */
  find(): Program | null {
    this.#found ??= findProgram(this.kind.program, this.path);
    return this.#found;
  }

  /** Throws `environment-down` where it is missing. */
  demand(): { readonly program: Program; readonly words: readonly [string, ...string[]] } {
    const program = this.find();
    if (program === null) throw this.missing();
    const words = startWords(program);
    if (words !== null) return { program, words };
    const interpreter = program.form.kind === 'script' ? program.form.interpreter.name : 'a program';
    const what = `${this.kind.program} needs ${interpreter}, which is not on PATH`;
    throw fail('environment-down', what, program.path, `install ${interpreter}`);
  }

  missing(): SkilloptError {
    const what = `the agent ${this.kind.name} is not installed: no ${this.kind.program} is on PATH`;
    return fail('environment-down', what, `agent ${this.kind.name}`, installation(this.kind));
  }

  /** Asked once. Throws `environment-down` where it is missing or does not say. */
  async version(): Promise<string> {
    const answer = await this.askVersion();
    if (answer.kind === 'version') return answer.version;
    throw fail('environment-down', answer.why, this.find()?.path ?? '', installation(this.kind));
  }

  /** Throws `environment-down` where it is missing. */
  askVersion(): Promise<VersionAnswer> {
    const { words } = this.demand();
    this.#file ??= fileOf(this.#found);
    this.#version ??= this.#ask(words);
    return this.#version;
  }

  #ask(words: readonly [string, ...string[]]): Promise<VersionAnswer> {
    return versionOf([...words, ...this.kind.versionArgs], this.kind.program, this.path);
  }

  /** Throws `environment-down` where its file is not what told the version any more, and another version is. */
  async demandSame(): Promise<void> {
    const known = this.#version;
    const file = fileOf(this.#found);
    if (known === null || file === this.#file) return;
    const [before, now] = await Promise.all([known, this.#ask(this.demand().words)]);
    const version = (answer: VersionAnswer) => (answer.kind === 'version' ? answer.version : 'no version');
    if (version(before) !== version(now)) {
      const what = `${this.kind.program} was replaced while it was measured: ${version(before)} → ${version(now)}`;
      throw fail('environment-down', what, this.#found?.path ?? '', restart);
    }
    this.#file = file;
  }
}

const restart = 'start it again: what was measured with the other version is measured anew';

/** What tells a file from another at its place; null = there is none. */
function fileOf(program: Program | null): string | null {
  const stat = program === null ? undefined : statSync(program.real, { throwIfNoEntry: false });
  return stat === undefined ? null : [stat.dev, stat.ino, stat.size, stat.mtimeMs].join(' ');
}

/** The command that installs the version for which everything is measured. */
export function installation({ npmPackage, tested }: Pick<CliKind, 'npmPackage' | 'tested'>): string {
  return `install it: npm install -g ${npmPackage}@${tested}`;
}

/** The version that a command prints, started with nothing of the user's but the PATH. */
export async function versionOf(
  command: readonly [string, ...string[]],
  name: string,
  path: string,
): Promise<VersionAnswer> {
  const home = await mkdtemp(join(tmpdir(), 'skillopt-version-'));
  try {
    const env = { PATH: path, HOME: home, TMPDIR: home, LANG: 'C.UTF-8', DISABLE_AUTOUPDATER: '1' };
    const end = await runProcess({ command, cwd: home, env, timeoutMs: versionMs });
    const version = versionIn(end.stdout) ?? versionIn(end.stderr);
    if (version !== null && end.exitCode === 0) return { kind: 'version', version };
    const said = `${end.stderr}\n${end.stdout}`.trim().split('\n').at(-1) ?? '';
    const why = end.cause === 'timeout' ? `did not answer within ${versionMs / 1000} s` : end.detail || said;
    return { kind: 'none', why: `${name} does not tell its version: ${why || `exit code ${end.exitCode}`}` };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
