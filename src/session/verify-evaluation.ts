import { checkConfig } from '../config/load.ts';
import { Stop } from '../engine/conversation.ts';
import { evaluate } from '../engine/evaluate.ts';
import { EvalFold, type EvalState } from '../events/eval-state.ts';
import { type EventOf, kindOf } from '../events/events.ts';
import { readLog } from '../journal/journal.ts';
import { TextFiles } from '../journal/texts.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { EndOfLog, OtherDecision } from './ends.ts';
import type { RenderEval } from './eval-copies.ts';
import { armKey, checkEvalRules, evalEnvironment, evalPlan } from './eval-first-line.ts';
import { evalPaths } from './eval-paths.ts';
import { Diverged, diverged, Logged } from './logged.ts';
import { RecordedPorts } from './recorded-ports.ts';
import { divergence } from './replay.ts';
import { checkDocument, checkTexts, DocumentRead, type Problem, type VerifyReport } from './verify.ts';

export type EvalVerifyReport = Omit<VerifyReport, 'state'> & { readonly state: EvalState };

/** As `verifySession`, for the directory of an eval: its decision must follow again from the outcomes in its log. */
export async function verifyEvaluation(dir: string, render: RenderEval, program: string): Promise<EvalVerifyReport> {
  const paths = evalPaths(dir);
  const fold = new EvalFold();
  const problems: Problem[] = [];
  const consumed = new Set<string>();
  let markers = 0;
  const document = new DocumentRead(paths.document, program);
  const { logged, end } = Logged.read(readLog(paths.log), ({ event, hash }) => {
    fold.add(event);
    if ('consumed' in event) for (const key of event.consumed) consumed.add(key);
    else if (kindOf(event.type) === 'marker') markers++;
    document.line(event, hash, () => render(fold.state, { lines: event.seq, hash }));
  });
  if (end.head.lines === 0)
    throw fail('usage', 'there is nothing to verify: the log has no line', paths.log, 'start the eval first');
  checkDocument(document, end.head, problems);
  checkTexts(logged, new TextFiles(paths.texts), problems);
  const replayed = await replay(logged, paths.log, problems);
  return {
    lines: end.head.lines,
    head: end.head.hash,
    torn: end.torn,
    effects: logged.outcomes.size,
    decisions: logged.decisions.length,
    complete: replayed.complete,
    finalized: false,
    problems,
    documentBy: document.by,
    differsAt: replayed.differsAt,
    chainOnly: { unreadOutcomes: [...logged.outcomes.keys()].filter((k) => !consumed.has(k)).length, markers },
    state: fold.state,
  };
}

/** What the report says of the environment follows from the config that stands in the same line. */
function checkGround(created: EventOf<'eval.created'>, where: string, problems: Problem[]): void {
  const changed = (what: string) => problems.push({ kind: 'changed', where, what });
  try {
    const config = checkConfig(created.config, where);
    if (JSON.stringify({ ...created.environment, versions: {} }) !== JSON.stringify(evalEnvironment(config)))
      changed('the environment does not follow from the config');
    if (created.rehearsal !== (config.agent === 'rehearsal'))
      changed('rehearsal or not does not follow from the config');
  } catch (e) {
    if (!(e instanceof SkilloptError)) throw e;
    changed(e.failure.what);
  }
}

async function replay(
  logged: Logged,
  log: string,
  problems: Problem[],
): Promise<{ readonly complete: boolean; readonly differsAt: number | null }> {
  const { evaluation } = logged;
  if (evaluation === null) {
    problems.push({ kind: 'changed', where: `${log}:1`, what: 'the first line of an eval is missing' });
    return { complete: false, differsAt: 1 };
  }
  checkEvalRules(evaluation, log);
  for (const { arm, text, skill, bundle, files, name, from } of evaluation.arms)
    if (armKey(text === null ? null : { text, bundle, files, name, from }) !== skill)
      problems.push({
        kind: 'changed',
        where: `${log}:1`,
        what: `the text of the arm ${arm} does not have the hash that stands there`,
      });
  checkGround(evaluation, `${log}:1`, problems);
  const ports = new RecordedPorts(logged, null);
  let complete = false;
  let difference: Diverged | null = null;
  try {
    await evaluate(evalPlan(evaluation), ports);
    complete = true;
  } catch (e) {
    if (e instanceof OtherDecision) difference = divergence(e, log);
    else if (e instanceof Diverged) difference = e;
    else if (!(e instanceof EndOfLog || e instanceof Stop)) throw e; // it stops where the log does, or at a limit
  }
  const rest = difference === null ? ports.rest() : null;
  if (rest !== null)
    difference = diverged(rest, 'this line does not follow from the ones above: the rules never come to it', '', '');
  if (difference === null) return { complete, differsAt: null };
  const { what, where } = difference.failure;
  problems.push({ kind: 'changed', where: `${log}:${difference.line}`, what: `${what}\n${where}` });
  return { complete, differsAt: difference.line };
}
