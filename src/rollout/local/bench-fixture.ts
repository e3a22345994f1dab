import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256 } from '../../ports/hash.ts';
import type { MountedSkill } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import { findMarked } from '../../process/reap-leftovers.ts';
import { createSelfCheckAgent } from '../self-check-agent.ts';
import type { CheckBench, CheckTask } from '../self-checks.ts';
import { markName } from './environment.ts';
import { LocalRollouts } from './local-rollouts.ts';
import type { LocalOptions } from './options.ts';
import { PlainFolders } from './sandbox/plain-folders.ts';

/** The local backend on real task folders in a temporary place of its own. */
export type LocalBench = Omit<CheckBench, 'task'> & {
  readonly backend: LocalRollouts;
  readonly folder: string;
  readonly tempRoot: string;
  readonly sessionId: string;
  task(files: CheckTask & Partial<TaskExtras>): Promise<FolderTask>;
};

type TaskExtras = {
  /** Further files of the task folder by path. */
  readonly files: Readonly<Record<string, string>>;
  readonly env: FolderTask['env'];
};

/** Walls like those of the bundled examples: none, and nothing is bounded. */
export const ownFolders = new PlainFolders({
  instead: null,
  bound: { kind: 'none', why: 'nothing is' },
  ownPrograms: true,
});

let benches = 0;

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

export async function makeLocalBench(more: Partial<LocalOptions> = {}): Promise<LocalBench> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'local-bench-')));
  const tempRoot = join(folder, 'tmp');
  mkdirSync(tempRoot);
  const number = ++benches;
  const sessionId = `bench-${process.pid}-${number}`;
  const secret = `sk-secret-${number}`;
  const backend = new LocalRollouts({
    agent: createSelfCheckAgent(),
    passThreshold: 1,
    sessionId,
    tasks: [],
    prepareFiles: async () => [],
    problems: async () => [],
    unsandboxedAllowed: true,
    sandbox: ownFolders,
    network: 'off',
    show: [],
    hide: [],
    limits: null,
    relay: null,
    defaultAgentTimeoutSec: 60,
    hostEnv: { ...process.env, SOME_API_KEY: secret },
    variables: {},
    gateway: null,
    preloads: null,
    keep: null,
    agentLimits: { requests: null, tokens: null, usd: null },
    modelTokens: { context: null, output: null },
    tempRoot,
    graceMs: 300,
    ...more,
  });
  const places = [{ folder: tempRoot, sinceMs: null }];
  const mark = { name: markName, match: 'prefix', value: `${sessionId}/`, places } as const;
  let count = 0;
  return {
    backend,
    folder,
    tempRoot,
    sessionId,
    secret,
    async task(files) {
      const id = `task-${++count}`;
      const dir = join(folder, 'pack', id);
      write(dir, {
        'instruction.md': files.instruction,
        'tests/test.sh': `#!/usr/bin/env bash\n${files.test}\n`,
        ...files.files,
      });
      return {
        kind: 'folder',
        id,
        dir,
        hash: sha256(id),
        instruction: files.instruction,
        instructionHash: sha256(files.instruction),
        agentTimeoutSec: files.agentTimeoutSec ?? null,
        shouldTrigger: null,
        verifierTimeoutSec: files.verifierTimeoutSec ?? 60,
        workdir: '/app',
        commands: [],
        env: files.env ?? { environment: {}, verifier: {}, solution: {} },
        hasSolution: files.files?.['solution/solve.sh'] !== undefined,
      };
    },
    async skill(text, bundled): Promise<MountedSkill> {
      const bundleDir = mkdtempSync(join(folder, 'bundle-'));
      write(bundleDir, bundled);
      return { name: 's', hash: sha256(text), text, bundleDir };
    },
    async busy() {
      while ((await findMarked(mark)).length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    async leftovers() {
      const processes = await findMarked(mark);
      return [...processes.map((found) => `process ${found.pid} ${found.command}`), ...readdirSync(tempRoot)];
    },
    async close() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
