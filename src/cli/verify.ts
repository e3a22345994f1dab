import { resolve } from 'node:path';
import { type VerifyReport, verifySession } from '../session/verify.ts';
import type { CommandContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { shownDir } from './read-state.ts';
import { renderSession } from './render-session.ts';

/** Recomputes a session from its log and prints what was found. */
export async function verify(dir: string, context: CommandContext): Promise<void> {
  const path = resolve(dir);
  const report = await verifySession(path, renderSession);
  const { state: _state, ...data } = report;
  context.io.result({ ok: report.problems.length === 0, ...data }, verifyLines(report, shownDir(path)));
  if (report.problems.length > 0) process.exitCode = exitCodes['log-diverged'];
}

function verifyLines(r: VerifyReport, dir: string): string[] {
  const reach = r.finalized
    ? 'through the sealed test'
    : r.complete
      ? 'through the search'
      : 'as far as the run has come';
  const { unreadOutcomes, markers } = r.chainOnly;
  return [
    ...r.problems.map(
      (p) => `${p.kind.padEnd(18)} ${p.where}\n                   ${p.what.split('\n').join('\n                   ')}`,
    ),
    r.problems.length === 0
      ? `verified    ${dir}: ${r.decisions} decisions follow from ${r.effects} effects, ${reach}`
      : `NOT VERIFIED ${dir}: ${r.problems.length} ${r.problems.length === 1 ? 'thing is' : 'things are'} not as the log says`,
    `vouched for by chain and head alone: ${unreadOutcomes} outcomes that no decision read, ${markers} markers, and what no decision reads (times, spend, versions, paths)${r.torn ? ', and a torn last line that will be dropped' : ''}`,
    `log         ${r.lines} lines, head ${r.head}`,
  ];
}
