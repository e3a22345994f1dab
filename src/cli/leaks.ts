import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LeakOf, LeakScan } from '../ports/leak.ts';
import type { Session } from '../session/session.ts';
import { applierOf } from '../skill/by-part.ts';
import { LeakIndexBuilder } from '../skill/leak-index.ts';
import { scannerOf } from '../skill/leak-scan.ts';
import { TRIGGER_PROMPT_WORDS } from '../skill/leak-windows.ts';
import { secretPaths, taskSecrets } from '../taskpack/leak-material.ts';
import { exampleName } from './bundled.ts';

/**
 * Holds what the optimizer hands in against what the tasks of all splits know. They are read when the first reflection
 * is performed, task by task, so that neither a start nor a replay waits for it. The optimizer sees none of it.
 */
export function leaksOf(session: Searched, base: string): LeakScan {
  let reading: Promise<LeakOf> | null = null;
  return () => {
    reading ??= scannerFor(session, base);
    return reading;
  };
}

type Searched = Pick<Session, 'config' | 'id' | 'pack' | 'paths' | 'skill'>;

async function scannerFor({ config, id, pack, paths, skill }: Searched, base: string): Promise<LeakOf> {
  const builder = new LeakIndexBuilder(skill.text, config.optimize === 'body' ? undefined : TRIGGER_PROMPT_WORDS);
  for await (const task of taskSecrets(pack)) builder.add(task);
  const source = exampleName(config.pack) === null ? [resolve(base, config.pack)] : [];
  // the beginning of what the folders of its rollouts are called
  const rollouts = join(tmpdir(), `skillopt-${id}-`);
  return scannerOf(
    builder.finish(secretPaths(pack, [...source, resolve(paths.dir), rollouts])),
    skill.text,
    applierOf(config.optimize),
  );
}
