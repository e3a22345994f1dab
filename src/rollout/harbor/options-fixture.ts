import { join } from 'node:path';
import { sha256 } from '../../ports/hash.ts';
import type { FolderTask } from '../../ports/task.ts';
import { type HarborOptions, nothingMore } from './options.ts';

/** Harbor's own environment class of the tests: trials in bubblewrap on this machine, without a container. */
export const localEnvironment = { importPath: 'harbor_local_env:LocalEnvironment' } as const;
export const fixtures = join(import.meta.dir, 'fixtures');

/** The backend as tests make it: with the agent of the self-checks, on this machine, without a model. */
export function harborOptions(more: Partial<HarborOptions> = {}): HarborOptions {
  return {
    ...nothingMore,
    sessionId: 'session',
    passThreshold: 1,
    dir: '/session/harbor',
    program: 'harbor',
    environment: localEnvironment,
    agent: { importPath: 'self_check_agent:SelfCheckAgent' },
    pythonPath: [fixtures],
    defaultAgentSec: 60,
    concurrency: 4,
    hostEnv: {},
    patienceMs: 20_000,
    ...more,
  };
}

/** A task of the pack as the backend is given it. */
export function harborTask(more: Pick<FolderTask, 'id' | 'dir'> & Partial<FolderTask>): FolderTask {
  const instruction = more.instruction ?? 'do it';
  return {
    kind: 'folder',
    hash: sha256(more.id),
    instruction,
    instructionHash: sha256(instruction),
    agentTimeoutSec: null,
    shouldTrigger: null,
    verifierTimeoutSec: 60,
    workdir: '/app',
    commands: [],
    env: { environment: {}, verifier: {}, solution: {} },
    hasSolution: false,
    ...more,
  };
}
