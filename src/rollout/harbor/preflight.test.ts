import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../ports/preflight.ts';
import { type HarborBench, harborIsHere, makeHarborBench } from './bench-fixture.ts';
import type { HarborOptions } from './options.ts';
import { harborPreflight } from './preflight.ts';

const benches: HarborBench[] = [];
afterAll(async () => {
  for (const bench of benches) await bench.close();
});

async function bench(more: Partial<HarborOptions> = {}): Promise<HarborBench> {
  const made = await makeHarborBench(more);
  benches.push(made);
  return made;
}

const sound = { instruction: 'Do it.', test: 'echo 1 > /logs/verifier/reward.txt' };
const errors = (findings: readonly Finding[]) => findings.filter(({ level }) => level === 'error');

/** A foreign program of the given name, first on PATH. */
function fakeProgram(of: HarborBench, name: string, script: string): string {
  const folder = join(of.folder, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}

(harborIsHere ? describe : describe.skip)('the preflight of the installed Harbor', () => {
  test('finds nothing in what is sound, and leaves nothing behind', async () => {
    const { options, task } = await bench();
    const tasks = [await task(sound), await task(sound)];
    expect((await harborPreflight({ ...options, tasks })).map(({ level, what }) => `${level} ${what}`)).toEqual([
      expect.stringMatching(/^ok Harbor \d/),
    ]);
    expect(existsSync(options.dir)).toBe(false);
    mkdirSync(options.dir);
    writeFileSync(join(options.dir, 'kept'), '');
    expect(errors(await harborPreflight({ ...options, tasks }))).toEqual([]);
    expect(readdirSync(options.dir)).toEqual(['kept']);
  });

  test('names each broken task, though Harbor itself says only the first and not which', async () => {
    const { options, task } = await bench();
    const tasks = [await task(sound), await task(sound), await task({ ...sound, id: 'without-test' })];
    const [, second, third] = tasks;
    writeFileSync(join(second?.dir ?? '', 'task.toml'), 'a = = 3\n');
    rmSync(join(third?.dir ?? '', 'tests/test.sh'));
    const found = errors(await harborPreflight({ ...options, tasks }));
    expect(found.map(({ where }) => where).sort()).toEqual([
      `task ${second?.id}: ${second?.dir}/task.toml`,
      `task without-test: ${third?.dir}/tests/test.sh`,
    ]);
    expect(existsSync(options.dir)).toBe(false);
  });

  test.each([
    [
      'an unknown environment',
      { environment: { type: 'dokcer' } },
      'Harbor has no environment dokcer',
      'did you mean docker?',
    ],
    [
      'an unknown agent',
      { agent: { name: 'claud-code' } },
      'Harbor has no agent claud-code',
      'did you mean claude-code?',
    ],
    ['an agent without skills', { agent: { name: 'aider' } }, 'Harbor’s agent aider takes no skill', 'claude-code'],
    [
      'a class that is not there',
      { agent: { importPath: 'no_such_module:Agent' } },
      'no_such_module',
      'mend what it names',
    ],
    [
      'an option that the agent has not',
      { agent: { name: 'codex' }, agentKwargs: { bogus: 1 } },
      "Unknown option 'bogus'",
      'mend',
    ],
    [
      'packages of an environment',
      { environment: { type: 'runloop' } },
      'needs packages that are not installed',
      "uv tool install 'harbor[runloop]'",
    ],
    [
      'an environment that is not there',
      { environment: { importPath: 'no_such_module:Env' } },
      'no_such_module',
      'mend',
    ],
    [
      'a variable',
      { agentEnv: ['NO_SUCH_VARIABLE'] },
      'the variable NO_SUCH_VARIABLE is not set',
      'set NO_SUCH_VARIABLE',
    ],
  ] as const)('tells of %s with its fix', async (_name, more, what, fix) => {
    const { options, task } = await bench(more as Partial<HarborOptions>);
    const [first] = errors(await harborPreflight({ ...options, tasks: [await task(sound)] }));
    expect(first?.what).toContain(what);
    expect(first?.fix).toContain(fix);
  });

  test('takes oracle for what it is, and tries the tasks without a skill', async () => {
    const { options, task } = await bench({ agent: { name: 'oracle' } });
    const found = await harborPreflight({ ...options, tasks: [await task(sound)] });
    expect(found.map(({ level }) => level)).toEqual(['ok', 'warning']);
  });
});

describe('a harbor that is none, or not the right one', () => {
  const answer = (version: string) => `if [ "$1" = --version ]; then ${version}; exit; fi\nexit 1`;
  test.each([
    [
      'another program',
      'echo "unknown flag: --version" >&2; exit 1',
      'is another program of that name',
      'uv tool install harbor',
    ],
    ['an old one', answer('echo 0.22.0'), 'Harbor 0.22.0 is older than 0.25', 'uv tool upgrade harbor'],
  ] as const)('%s is the one thing that is told', async (_name, script, what, fix) => {
    const made = await bench();
    const folder = fakeProgram(made, 'harbor', script);
    const hostEnv = { ...made.options.hostEnv, PATH: `${folder}:/usr/bin:/bin` };
    const found = await harborPreflight({ ...made.options, hostEnv, tasks: [await made.task(sound)] });
    expect(found).toHaveLength(1);
    expect(found[0]?.what).toContain(what);
    expect(found[0]?.fix).toContain(fix);
  });

  test('a missing one is said so, beside what is wrong without it, too', async () => {
    const made = await bench({ env: ['NO_SUCH_VARIABLE'] });
    const hostEnv = { ...made.options.hostEnv, PATH: '/nowhere' };
    const found = await harborPreflight({ ...made.options, hostEnv });
    expect(found.map(({ what }) => what)).toEqual([
      expect.stringContaining('Harbor is not installed'),
      'the variable NO_SUCH_VARIABLE is not set',
    ]);
  });

  test('a newer one that is a shell script is asked by its commands, and warned of', async () => {
    const made = await bench({ environment: { type: 'podman' }, agent: { name: 'codx' } });
    const script = [
      'case "$*" in',
      '--version) echo 0.27.1 ;;',
      "'environment list --json') exit 2 ;;",
      "'environment list') printf '│ Name │\\n│ docker │\\n│ podman │\\n' ;;",
      "'agent list --json') echo '[\"codex\"]' ;;",
      '*) exit 1 ;;',
      'esac',
    ].join('\n');
    const folder = fakeProgram(made, 'harbor', script);
    const hostEnv = { ...made.options.hostEnv, PATH: `${folder}:/usr/bin:/bin` };
    const found = await harborPreflight({ ...made.options, hostEnv });
    expect(found.map(({ level, what }) => `${level} ${what}`)).toEqual([
      'warning Harbor 0.27.1 is newer than 0.26, with which this program was tested',
      'error Harbor has no agent codx',
    ]);
  });
});

describe('a Docker that does not do', () => {
  const harbor = 'case "$1" in --version) echo 0.26.0 ;; *) exit 1 ;; esac';
  const info = `echo '{"ServerVersion":"28.0.0","DockerRootDir":"/var/lib/docker"}'`;
  test.each([
    [
      'does not answer',
      'echo "Cannot connect to the Docker daemon" >&2; exit 1',
      'Docker does not answer: Cannot connect',
    ],
    ['has no compose', `case "$1" in info) ${info} ;; *) exit 1 ;; esac`, 'Docker has no `docker compose`'],
    [
      'has an old compose',
      `case "$1" in info) ${info} ;; compose) echo 1.29.2 ;; *) exit 1 ;; esac`,
      'Docker has no `docker compose`',
    ],
    [
      'sees no folder of ours',
      `case "$1" in info) ${info} ;; compose) echo 2.30.0 ;; image) echo sha256:1 ;; *) echo "bind source path does not exist" >&2; exit 125 ;; esac`,
      'a container does not see the session’s folder',
    ],
    [
      'shows another folder in its place',
      `case "$1" in info) ${info} ;; compose) echo 2.30.0 ;; image) echo sha256:1 ;; *) echo ;; esac`,
      'a container does not see the session’s folder',
    ],
    ['is not there', null, 'Docker is not installed'],
  ] as const)('%s', async (_name, script, what) => {
    const made = await bench({ environment: { type: 'docker' }, agent: { name: 'codex' } });
    const folder = fakeProgram(made, 'harbor', harbor);
    if (script !== null) fakeProgram(made, 'docker', script);
    const path = script === null ? folder : `${folder}:/usr/bin:/bin`;
    const found = errors(await harborPreflight({ ...made.options, hostEnv: { ...made.options.hostEnv, PATH: path } }));
    expect(found.map((finding) => finding.what)).toEqual([expect.stringContaining(what)]);
  });
});
