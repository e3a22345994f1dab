import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256 } from '../../ports/hash.ts';
import type { MountedSkill } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import { findMarked } from '../../process/reap-leftovers.ts';
import { markName } from '../local/environment.ts';
import type { CheckBench, CheckTask } from '../self-checks.ts';
import { HarborRollouts } from './harbor-rollouts.ts';
import type { HarborOptions } from './options.ts';
import { harborOptions, harborTask } from './options-fixture.ts';

export type HarborBench = Omit<CheckBench, 'task'> & {
  readonly backend: HarborRollouts;
  readonly folder: string;
  readonly options: HarborOptions;
  task(files: CheckTask & Partial<{ readonly id: string; readonly dockerfile: string }>): Promise<FolderTask>;
};

let benches = 0;

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** The Harbor backend on real task folders, in a place of its own. */
export async function makeHarborBench(more: Partial<HarborOptions> = {}, name = 'harbor-bench-'): Promise<HarborBench> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), name)));
  const number = ++benches;
  const sessionId = `bench${process.pid}x${number}`;
  const secret = `sk-secret-${number}`;
  const temp = join(folder, 'tmp');
  mkdirSync(temp);
  const options = harborOptions({
    sessionId,
    dir: join(folder, 'harbor'),
    hostEnv: { ...process.env, TMPDIR: temp, SOME_API_KEY: secret },
    ...more,
  });
  const backend = new HarborRollouts(options);
  const mark = { name: markName, match: 'prefix', value: `${sessionId}/` } as const;
  /** What runs in a trial of the container-free environment. */
  const inside = { name: 'HB_LOCAL_ROOT', match: 'prefix', value: `${temp}/` } as const;
  let count = 0;
  return {
    sharedPlace: true,
    backend,
    folder,
    options,
    secret,
    async task(files) {
      const id = files.id ?? `${sessionId}-${++count}`;
      const dir = join(folder, 'pack', id);
      write(dir, {
        'instruction.md': files.instruction,
        'environment/Dockerfile': files.dockerfile ?? 'FROM debian:bookworm-slim\nWORKDIR /app\n',
        'tests/test.sh': `#!/usr/bin/env bash\nexport LOGS_DIR=/logs APP_DIR=/app TESTS_DIR=/tests\ncd /app\n${files.test}\n`,
        'task.toml': [
          'schema_version = "1.0"',
          ...(files.agentTimeoutSec === undefined ? [] : ['[agent]', `timeout_sec = ${files.agentTimeoutSec}.0`]),
          ...(files.verifierTimeoutSec === undefined
            ? []
            : ['[verifier]', `timeout_sec = ${files.verifierTimeoutSec}.0`]),
          '',
        ].join('\n'),
      });
      return harborTask({
        id,
        dir,
        instruction: files.instruction,
        agentTimeoutSec: files.agentTimeoutSec ?? null,
        verifierTimeoutSec: files.verifierTimeoutSec ?? 60,
      });
    },
    async skill(text, bundled): Promise<MountedSkill> {
      const bundleDir = mkdtempSync(join(folder, 'bundle-'));
      write(bundleDir, bundled);
      return { name: 's', hash: sha256(text), text, bundleDir };
    },
    async busy() {
      while ((await findMarked(inside)).length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async leftovers() {
      const processes = [...(await findMarked(mark)), ...(await findMarked(inside))];
      return [...processes.map((found) => `process ${found.pid} ${found.command}`), ...readdirSync(temp)];
    },
    async close() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Containers, networks and images of a bench's trials on Docker, which begin with the names of its tasks. */
export async function leftOnDocker({ options }: Pick<HarborBench, 'options'>): Promise<readonly string[]> {
  const lists = await Promise.all(
    [
      ['ps', '--all', '--format', 'container {{.Names}}'],
      ['network', 'ls', '--format', 'network {{.Name}}'],
      ['image', 'ls', '--format', 'image {{.Repository}}'],
    ].map(async (args) => new Response(Bun.spawn(['docker', ...args]).stdout).text()),
  );
  return lists
    .join('')
    .split('\n')
    .filter((line) => line.includes(` ${options.sessionId}-`));
}

/** Do Docker and Harbor answer? */
export const dockerAnswers = (): boolean =>
  Bun.which('harbor') !== null && Bun.which('docker') !== null && Bun.spawnSync(['docker', 'info']).exitCode === 0;

/** Is Harbor here? Where it has to be (`REQUIRE_HARBOR=1`) the answer is yes, so that its tests fail and are not left out. */
export const harborIsHere: boolean =
  process.env.REQUIRE_HARBOR === '1' || (Bun.which('harbor') !== null && Bun.which('bwrap') !== null);
