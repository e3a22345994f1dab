import { isLastTry } from '../events/attempts.ts';
import type { EvalEstimate } from '../events/estimate.ts';
import { judged } from '../events/eval-judge.ts';
import { rolloutName } from '../events/rollout-key.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { type EvalReport, evalFiles, evalLines, evalReport } from '../report/eval-report.ts';
import { Evaluation } from '../session/evaluation.ts';
import { Hold } from '../session/hold.ts';
import { sessionPaths } from '../session/paths.ts';
import { Resets } from '../session/resets.ts';
import { runEvaluation } from '../session/run-evaluation.ts';
import { askLine } from './ask-line.ts';
import { beginEval } from './begin-eval.ts';
import type { CommandContext } from './context.ts';
import { refuseContradictions, unused } from './eval-config.ts';
import { groundOf, isInSession } from './eval-ground.ts';
import type { EvalOptions } from './eval-options.ts';
import { attemptLine, planLines } from './eval-progress.ts';
import { evalOptions, wantedEval } from './eval-sources.ts';
import { EvalStill } from './eval-still.ts';
import { NO_IMPROVEMENT } from './exit-codes.ts';
import { ReportedFailure } from './io.ts';
import { environment, flagsOf } from './layered-config.ts';
import { type LiveLine, liveLine } from './live-line.ts';
import { learner } from './local-backend.ts';
import { priced, pricedRollouts } from './models.ts';
import { preflight, taskNotes } from './preflight.ts';
import { installing, preloadsIn, preloadsUsed } from './preloads.ts';
import { shownDir } from './read-state.ts';
import { renderEvaluation, summaryOf } from './render-eval.ts';
import { skillCommands } from './skill-commands.ts';
import { tellingWaits } from './waits.ts';
import { redactor, sessionParts, wiredEval, workersOf } from './wiring.ts';

const TICK_MS = 1_000;

/** Measures a skill, goes on with a measurement that was stopped, or shows the report of one that has finished. */
export async function evaluateSkill(
  dir: string | undefined,
  typed: EvalOptions,
  context: CommandContext,
): Promise<void> {
  const { io, stage } = context;
  if (typed.exitCode) requireOther(typed);
  const { signal } = stage.abort;
  const live = liveLine(io, stage.isLive);
  const odd: string[] = [];
  const flags = flagsOf(typed);
  refuseContradictions(typed, flags);
  const options = evalOptions(dir, typed, flags);
  const overrides = isInSession(dir, options) ? flags.overrides : [...environment(), ...flags.overrides];
  for (const taken of flags.taken) io.line(`taken       ${taken}`);
  const ground = groundOf(dir, options, flags.overrides);
  const drawsSplits = ground !== null && ground.state === null;
  for (const flag of unused(flags.overrides, drawsSplits)) io.line(`ignored     ${flag}: an eval has no use for it`);
  const base = ground?.base ?? process.cwd();
  const { importSkill: _skill, importPack: _pack, render: _render, ...parts } = sessionParts(base, () => {});
  const { wanted, out, bundled } = wantedEval(options, ground, overrides, parts.now, (w) => odd.push(w));
  const command = await redactor()(context.command);
  const evaluation = await Evaluation.open(out, wanted, { ...parts, command, render: renderEvaluation });
  const told = (): { readonly report: EvalReport; readonly lines: readonly string[] } => {
    const state = { ...evaluation.state, created: evaluation.created };
    const report = evalReport(state, summaryOf(state), {
      command: context.command,
      dir: shownDir(out),
      head: evaluation.journal.position,
    });
    return { report, lines: [...evalLines(state, summaryOf(state)), ...evalFiles(report)] };
  };
  const end = (estimate: EvalEstimate | null, { report, lines }: ReturnType<typeof told>) => {
    io.result({ ...report, estimate }, lines);
    const wins = report.failure === null && report.comparisons.every((c) => c.wins > c.losses);
    if (typed.exitCode && !wins) process.exitCode = NO_IMPROVEMENT;
  };
  let close: (() => Promise<void> | undefined) | null = null;
  try {
    if (evaluation.state.finished) {
      const { report, lines } = told();
      const shown = 'shown       it has finished before, and nothing was run; --out measures anew';
      end(null, { report, lines: [...lines, shown] });
      return;
    }
    const workers = workersOf(evaluation.config);
    const { rollouts, target, gateway, asksTarget } = await wiredEval(evaluation, base, {
      allowUnsandboxed: options.allowUnsandboxed ?? false,
      rehearsalDelayMs: 0,
      bundled,
      lender: ground === null || ground.state === null ? null : sessionPaths(ground.dir).preloads,
      onWait: tellingWaits(live.line),
    });
    close = () => gateway?.close();
    const { config, pack, created } = evaluation;
    const findings = await preflight([
      rollouts,
      taskNotes(config, pack.tasks),
      ...created.arms.flatMap(({ text }) =>
        text === null ? [] : [skillCommands({ config, pack, skill: { text } }, preloadsIn(rollouts))],
      ),
      learner(config, 'measure'),
      preloadsUsed(config, rollouts),
      priced(config, target === null ? [] : [target]),
      pricedRollouts(config, gateway),
    ]);
    for (const line of planLines(evaluation, workers)) io.line(line);
    const asked = { target, asksTarget, preloads: installing(rollouts, live.line) };
    const begun = await beginEval(evaluation, asked, workers, {
      dir: out,
      say: live.line,
      ask: stage.isLive ? () => askLine('begin?', signal) : null,
      yes: typed.yes === true,
      signal,
    });
    if (begun.kind === 'left') {
      io.result({ estimate: begun.estimate }, begun.lines);
      return;
    }
    for (const left of await rollouts.sweep()) io.line(`swept       ${left}`);
    const warnings = [
      ...odd,
      ...begun.warnings,
      ...findings.flatMap((f) => (f.level === 'warning' ? [`${f.what} (${f.where})${f.fix ? `; ${f.fix}` : ''}`] : [])),
    ];
    for (const w of new Set(warnings)) {
      if (evaluation.isNew) evaluation.note(w);
      else io.line(`warning     ${w}`);
    }
    const unfollow = follow(evaluation, live);
    const hold = new Hold();
    const markPaused = (why: string, fix: string) => evaluation.markPaused(why, fix);
    const markResumed = () => evaluation.markResumed();
    const resets = typed.waitForReset === true ? new Resets({ hold, signal, markPaused, markResumed }) : null;
    const onAbort = () => live.line('stopping    what runs is ended and cleaned up; once more ends at once');
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await runEvaluation(evaluation, {
        rollouts,
        redact: redactor(),
        signal,
        workers,
        backoffMs: [1_000, 5_000],
        nowMs: () => hold.runningMs,
        hold,
        resets,
      });
    } catch (e) {
      live.end();
      const held = evaluation.state.paused !== null; // by what the failure says: what is there is worth telling
      if (!(e instanceof SkilloptError && held)) throw e;
      const { report, lines } = told();
      if (!io.json) for (const line of ['', ...lines, '']) io.line(line);
      throw new ReportedFailure(e.failure, report, e);
    } finally {
      unfollow();
      live.end();
      signal.removeEventListener('abort', onAbort);
    }
    const { report, lines } = told();
    end(begun.estimate, { report, lines: ['', ...lines] });
  } finally {
    await close?.();
    evaluation.close();
  }
}

/** `--exit-code` tells whether the skill wins, which takes something to win against. */
function requireOther({ withoutSkill, vs }: EvalOptions): void {
  if (withoutSkill || vs !== undefined) return;
  throw fail(
    'usage',
    '--exit-code tells whether the skill wins, and there is nothing to compare it with',
    '--exit-code',
    'add --no-skill or --vs, or leave it out',
  );
}

/** Tells of each attempt that comes to its end, of what keeps it from going on, and that it goes on where it is slow. Returned: ends that. */
function follow(evaluation: Evaluation, live: LiveLine): () => void {
  const { created } = evaluation;
  const still = new EvalStill(performance.now());
  const told =
    (tell: (text: string) => void): ((text: string) => void) =>
    (text) => {
      still.told(performance.now());
      tell(text);
    };
  const [line, progress] = [told(live.line), told(live.progress)];
  evaluation.onEvent((event, state) => {
    still.note(event, performance.now());
    if (event.type === 'warning.raised') line(`warning     ${event.what}`);
    if (event.type === 'session.paused' && event.within) line(`paused      ${event.why} · ${event.fix}`);
    if (event.type === 'session.resumed' && event.within) line('resumed     the wait is over');
    if (event.type !== 'rollout.finished') return;
    const { outcome, key, task } = event;
    const name = rolloutName(key);
    const arm = created.arms.find((a) => a.skill === name.skill)?.arm;
    const of = created.pack.tasks.find((t) => t.id === task);
    const score = outcome.status === 'scored' ? outcome.soft : null;
    if (arm === undefined || of === undefined) return;
    if (!isLastTry({ score, try: name.try })) {
      if (outcome.status === 'unscored')
        line(`  try again  ${task}: ${outcome.reason}, ${outcome.detail.split('\n')[0] ?? ''}`);
      return;
    }
    const { opens } = created.environment;
    const passed = outcome.status === 'scored' ? judged(outcome, of, arm, opens).passed : null;
    progress(attemptLine(state(), task, arm, passed));
  });
  const ticking = setInterval(() => {
    const due = still.due(performance.now());
    if (due !== null) live.progress(due);
  }, TICK_MS);
  ticking.unref();
  return () => clearInterval(ticking);
}
