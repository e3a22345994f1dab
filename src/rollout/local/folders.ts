import { join } from 'node:path';
import type { Place } from '../trajectory.ts';

/** The folders of one rollout. `tests` and `verifierLogs` do not exist before the agent has ended. */
export type Folders = {
  /** All of it, private to this user; where agents see it a git root, so that they look no further up. */
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
  readonly skills: string;
  readonly logs: string;
  readonly agentLogs: string;
  readonly verifierLogs: string;
  readonly tests: string;
  readonly temp: string;
  /** What stands behind `/dev/shm` in walls that have one of their own; made when they are. */
  readonly shared: string;
};

export function foldersIn(root: string): Folders {
  const logs = join(root, 'logs');
  return {
    root,
    workspace: join(root, 'app'),
    home: join(root, 'home'),
    skills: join(root, 'skills'),
    logs,
    agentLogs: join(logs, 'agent'),
    verifierLogs: join(logs, 'verifier'),
    tests: join(root, 'tests'),
    temp: join(root, 'tmp'),
    shared: join(root, 'shm'),
  };
}

/** The names that stand in a trajectory for these folders; those that scripts know by variable keep its name. */
export function placesOf(folders: Folders): readonly Place[] {
  return [
    { path: folders.workspace, name: '$APP_DIR' },
    { path: folders.logs, name: '$LOGS_DIR' },
    { path: folders.tests, name: '$TESTS_DIR' },
    { path: folders.temp, name: '$TMPDIR' },
    { path: folders.home, name: '$HOME' },
    { path: folders.root, name: '<rollout>' },
  ];
}

/** The raw exchange of a rollout lies beside its folders, where nothing inside sees it. */
export const exchangeFile = (folders: Folders): string => join(folders.root, 'exchange.jsonl');
