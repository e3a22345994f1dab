import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../binary.ts';

const example = join(import.meta.dir, '../../../examples/hello-harbor/skillopt.config.json');

/** Folder with Harbor's classes of the tests: trials in bubblewrap on this machine, without a container. */
export const classes = join(import.meta.dir, '../../rollout/harbor/fixtures');
export const containerFree = 'harbor_local_env:LocalEnvironment';

/** Writes the bundled example as a session of its own in `session`, with some keys set. */
export function exampleSession(place: Place, session: string, more: Readonly<Record<string, unknown>>): void {
  const config = { ...JSON.parse(readFileSync(example, 'utf8')), ...more };
  writeFileSync(place.path(session, 'skillopt.config.json'), JSON.stringify(config));
}

/** What Harbor needs of the host: its own program and Docker's client. */
export function hostEnv(place: Place): Readonly<Record<string, string>> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? place.dir, TMPDIR: place.temp };
}

/**
 * Few tasks: two edits of the list mend two of selection, and are accepted; a third mends none, and is rejected. Then train
 * has nothing left to fail.
 */
export const fewTasks = {
  splits: {
    train: ['backup-mail-boat', 'count-east-yard', 'notice-in-capitals'],
    selection: ['backup-coal-barge', 'count-reefers', 'sort-grain'],
    test: ['backup-then-log', 'count-empties'],
  },
  workers: 4,
  budget: { rollouts: 80 },
};
