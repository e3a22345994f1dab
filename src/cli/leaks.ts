import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Proposals } from '../ports/proposals.ts';
import type { Session } from '../session/session.ts';
import { LeakIndexBuilder } from '../skill/leak-index.ts';
import { type LeakScanner, scannerOf } from '../skill/leak-scan.ts';
import { secretPaths, taskSecrets } from '../taskpack/leak-material.ts';
import { exampleName } from './bundled.ts';

/**
 * Holds what the optimizer hands in against what the tasks of all splits know. They are read when the first reflection
 * is performed, task by task, so that neither a start nor a replay waits for it. The optimizer sees none of it.
 */
export function withLeakScan(
  session: Pick<Session, 'config' | 'id' | 'pack' | 'paths' | 'skill'>,
  base: string,
  optimizer: Proposals,
): { readonly proposals: Proposals; readonly leakOf: LeakScanner } {
  let reading: Promise<LeakScanner> | null = null;
  let scan: LeakScanner | null = null;
  return {
    proposals: {
      preflight: () => optimizer.preflight(),
      async performProposal(request, options) {
        reading ??= scannerFor(session, base);
        scan = await reading;
        return optimizer.performProposal(request, options);
      },
    },
    leakOf: (edit, text) => {
      if (scan === null) throw new Error('an edit is looked at before the tasks were read');
      return scan(edit, text);
    },
  };
}

async function scannerFor(
  { config, id, pack, paths, skill }: Pick<Session, 'config' | 'id' | 'pack' | 'paths' | 'skill'>,
  base: string,
): Promise<LeakScanner> {
  const builder = new LeakIndexBuilder(skill.text);
  for await (const task of taskSecrets(pack)) builder.add(task);
  const source = exampleName(config.pack) === null ? [resolve(base, config.pack)] : [];
  // the beginning of what the folders of its rollouts are called
  const rollouts = join(tmpdir(), `skillopt-${id}-`);
  return scannerOf(builder.finish(secretPaths(pack, [...source, resolve(paths.dir), rollouts])), skill.text);
}
