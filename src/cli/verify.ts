import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { countText } from '../events/words.ts';
import { evalPaths } from '../session/eval-paths.ts';
import { sessionPaths } from '../session/paths.ts';
import { type VerifyReport, verifySession } from '../session/verify.ts';
import { type EvalVerifyReport, verifyEvaluation } from '../session/verify-evaluation.ts';
import { VERSION } from '../version.ts';
import type { CommandContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { shownDir } from './read-state.ts';
import { renderEvaluation } from './render-eval.ts';
import { renderSession } from './render-session.ts';

/** Recomputes a session, an eval, or both where both lie in one directory, from their logs and prints what was found. */
export async function verify(dir: string, context: CommandContext): Promise<void> {
  const path = resolve(dir);
  const hasEval = existsSync(evalPaths(path).log);
  const ofSession =
    hasEval && !existsSync(sessionPaths(path).log) ? null : await verifySession(path, renderSession, VERSION);
  const ofEval = hasEval ? await verifyEvaluation(path, renderEvaluation, VERSION) : null;
  const at = shownDir(path);
  const ok = [ofSession, ofEval].every((report) => (report?.problems.length ?? 0) === 0);
  const evaluation = ofSession !== null && ofEval !== null ? { eval: dataOf(ofEval) } : {};
  context.io.result({ ok, ...dataOf(ofSession ?? ofEval), ...evaluation }, [
    ...(ofSession === null ? [] : verifyLines(ofSession, at, false)),
    ...(ofEval === null ? [] : verifyLines(ofEval, ofSession === null ? at : `the eval in ${at}`, true)),
  ]);
  if (!ok) process.exitCode = exitCodes['log-diverged'];
}

function dataOf(report: VerifyReport | EvalVerifyReport | null): object {
  const { state: _state, ...data } = report ?? { state: null };
  return data;
}

function verifyLines(r: VerifyReport | EvalVerifyReport, dir: string, isEval: boolean): string[] {
  const reach = isEval
    ? r.complete
      ? 'through the eval'
      : 'as far as the eval has come'
    : r.finalized
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
      ? `verified    ${dir}: ${countText(r.decisions, 'decision')} ${r.decisions === 1 ? 'follows' : 'follow'} from ${countText(r.effects, 'effect')}, ${reach}`
      : `NOT VERIFIED ${dir}: ${r.problems.length} ${r.problems.length === 1 ? 'thing is' : 'things are'} not as the log says`,
    `vouched for by chain and head alone: ${unreadOutcomes} outcomes that no decision read, ${markers} markers, and what no decision reads (times, spend, versions, paths)${r.torn ? ', and a torn last line that will be dropped' : ''}`,
    ...(r.documentBy === null
      ? []
      : [
          `not compared: the text of the .md, which skillopt ${r.documentBy} wrote and this version would word differently`,
        ]),
    `log         ${r.lines} lines, head ${r.head}`,
  ];
}
