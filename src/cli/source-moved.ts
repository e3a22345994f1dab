import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { shortHash } from '../ports/hash.ts';
import type { AfterRun } from '../report/after-run.ts';
import { sessionPaths } from '../session/paths.ts';
import { exampleName } from './bundled.ts';
import { readState, shownDir } from './read-state.ts';

/** A source skill that was changed since the session began, and the session's own copy of what it began with. */
export type SourceMoved = { readonly source: string; readonly seed: string };

/** The source skill, if it is there and no longer what the session began with nor its result; else null. */
export function sourceMoved(dir: string): SourceMoved | null {
  const { state } = readState(dir);
  const from = state.session?.skill.from ?? '';
  if (exampleName(from) !== null) return null;
  const source = join(resolve(dir, from), ...(basename(from) === 'SKILL.md' ? [] : ['SKILL.md']));
  if (!existsSync(source)) return null;
  const hash = shortHash(readFileSync(source));
  if (hash === state.session?.skill.hash || hash === state.incumbent) return null;
  return { source, seed: shownDir(sessionPaths(dir).snapshot(0)) };
}

/** The report of a session that was finalized, with a word about a source that has moved. */
export function withSource(
  dir: string,
  report: AfterRun,
  lines: readonly string[],
): { readonly data: AfterRun & { readonly sourceMoved: SourceMoved | null }; readonly lines: readonly string[] } {
  const moved = sourceMoved(dir);
  const data = { ...report, sourceMoved: moved };
  if (moved === null) return { data, lines };
  return {
    data,
    lines: [
      ...lines,
      `source      ${moved.source} was changed since the session began with ${moved.seed}; --apply would refuse it`,
    ],
  };
}
