import { conclusion } from '../events/conclusion.ts';
import { askedOfText } from '../events/optimizer-words.ts';
import { type Power, powerText } from '../events/power.ts';
import { rehearsalNote } from '../events/rehearsal-words.ts';
import type { RunState } from '../events/run-state.ts';
import { faultsText } from '../events/triggers.ts';
import { type FailurePoint, failurePoint } from '../events/trouble.ts';
import {
  causeText,
  countText,
  optimizedPart,
  readText,
  scoreText,
  unknownCostText,
  unscoredTexts,
} from '../events/words.ts';
import type { OptimizedPart } from '../ports/edit.ts';
import { shellWord } from '../ports/printable.ts';
import { diffStats } from '../skill/diff.ts';

/** The report after a run: what was run, where it lies, what came out, what comes next. Pure JSON. */
export type AfterRun = {
  readonly command: string;
  readonly directory: string;
  readonly rehearsal: boolean;
  readonly optimizes: OptimizedPart;
  readonly phase: RunState['phase'];
  readonly cause: string | null;
  readonly result: string | null;
  readonly headline: string;
  readonly bestSkill: string;
  readonly diff: { readonly added: number; readonly removed: number };
  readonly selection: { readonly seed: RunState['seed']['selection']; readonly confirmation: object | null };
  /** What one gate can tell; null = the seed has not met selection yet. */
  readonly power: Power | null;
  readonly test: readonly object[] | null;
  /** The how-manieth look at the test its number is, those before a fork included; null = it is sealed. */
  readonly look: number | null;
  /** Attempts a task and arm in it: with more than one the intervals of `test` are too narrow. */
  readonly testAttempts: number | null;
  /** How often evals have looked at the test since it was opened. */
  readonly lookedAgain: number;
  readonly steps: number;
  readonly accepted: number;
  /** Rollouts that the search's decisions have consumed: what the budget bounds. */
  readonly planned: number;
  readonly rollouts: {
    readonly started: number;
    readonly finished: number;
    readonly unscored: number;
    readonly cancelled: number;
    readonly lost: number;
    /** Outcomes that a fork took over: paid by its parent. */
    readonly inherited: number;
  };
  /** Calls and rollouts with a spend that nobody knows: beside them tokens and cost are the least that was spent. */
  readonly uncounted: number;
  readonly optimizerCalls: number;
  /** The optimizer's part of tokens and cost, and its model calls: a reflection may take several. */
  readonly optimizer: RunState['spend']['optimizer'] & { readonly requests: number };
  /** Short calls before the work began: each model was asked once. */
  readonly preflightCalls: number;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly minutes: number;
  readonly log: { readonly file: string; readonly lines: number; readonly head: string };
  readonly warnings: readonly string[];
  /** Where it first failed, and the smallest fix; null = it did not fail. */
  readonly failure: FailurePoint | null;
  readonly next: string;
};

export function afterRun(
  state: RunState,
  o: {
    readonly command: string;
    readonly dir: string;
    readonly head: { readonly lines: number; readonly hash: string };
    readonly power: Power | null;
  },
): AfterRun {
  const { headline, next } = conclusion(state, o.dir, o.power);
  const seedText = state.session?.skill.text ?? '';
  const best = state.skills.get(state.incumbent)?.text ?? seedText;
  const r = state.rollouts;
  return {
    command: o.command,
    directory: o.dir,
    rehearsal: state.session?.rehearsal ?? false,
    optimizes: optimizedPart(state),
    phase: state.phase,
    cause: state.ended?.cause ?? null,
    result: state.ended?.result ?? null,
    headline,
    bestSkill: `${o.dir}/best_skill.md`,
    diff: diffStats(seedText, best),
    selection: {
      seed: state.seed.selection,
      confirmation: state.confirmation && {
        seed: state.confirmation.seed,
        final: state.confirmation.final,
        wins: state.confirmation.wins,
        losses: state.confirmation.losses,
      },
    },
    power: o.power,
    test: state.finalized?.arms ?? null,
    look: state.opened?.look ?? null,
    testAttempts: state.opened?.attempts ?? null,
    lookedAgain: state.lookedAgain,
    steps: state.steps.length,
    accepted: state.steps.filter((s) => s.gateAction === 'accept').length,
    planned: state.planned,
    rollouts: {
      started: r.started,
      finished: r.finished,
      unscored: r.finished - r.scored,
      cancelled: r.cancelled,
      lost: r.lost,
      inherited: r.inherited,
    },
    uncounted: state.spend.uncounted,
    optimizerCalls: state.calls,
    optimizer: { ...state.spend.optimizer, requests: state.spend.requests },
    preflightCalls: state.spend.roundTrips,
    tokens: state.spend.tokens,
    costUsd: state.spend.costUsd,
    minutes: Math.round(state.minutes * 100) / 100,
    log: { file: `${o.dir}/skillopt.jsonl`, lines: o.head.lines, head: o.head.hash },
    warnings: state.warnings,
    failure: failurePoint(state, next),
    next,
  };
}

/** The report as lines for a terminal or a pipe. */
export function afterRunLines(a: AfterRun, state: RunState): string[] {
  const metric = state.plan?.gate.metric;
  // what was cancelled or lost has spent something that nobody counted
  const least = a.rollouts.cancelled + a.rollouts.lost + a.uncounted > 0 ? 'at least ' : '';
  const spent =
    a.costUsd === null
      ? unknownCostText(state.session)
      : a.costUsd === 0
        ? 'no model cost'
        : `${least}$${a.costUsd.toFixed(2)}`;
  return [
    `result      ${a.headline}`,
    ...(state.confirmation
      ? [
          `${state.confirmation.result === 'not-confirmed' ? 'refuted  ' : 'confirmed'}   selection ${scoreText(state.confirmation.final, metric)} against the seed’s ${scoreText(state.confirmation.seed, metric)} on fresh attempts (${state.confirmation.wins}–${state.confirmation.losses} in ${state.confirmation.pairs} of ${state.confirmation.of} pairs)`,
        ]
      : []),
    ...(state.ended
      ? [
          `ended       ${causeText(state.ended.cause)} · ${a.steps} ${a.steps === 1 ? 'step' : 'steps'}, ${a.accepted} accepted · ${a.optimizerCalls} optimizer ${a.optimizerCalls === 1 ? 'call' : 'calls'}`,
        ]
      : []),
    ...(a.power ? [`power       ${powerText(a.power)}`] : []),
    ...(a.optimizes === 'description'
      ? [`optimizes   the description; ${faultsText(state) || `the skill was ${readText(state)} rollouts that tell`}`]
      : []),
    `spent       ${a.rollouts.started} rollouts (${a.rollouts.cancelled} cancelled, ${a.rollouts.lost} lost)${a.rollouts.inherited > 0 ? ` and ${a.rollouts.inherited} inherited outcomes` : ''}${a.preflightCalls > 0 ? `, ${countText(a.preflightCalls, 'preflight call')}` : ''}${calls(a, state)} · ${spent}${tokens(a)} · ${duration(a.minutes)}`,
    ...unscoredTexts(state).map((text) => `unscored    ${text}`),
    ...(a.failure ? failureLines(a.failure) : []),
    `best skill  ${a.bestSkill} · +${a.diff.added} −${a.diff.removed} lines against the seed`,
    `directory   ${a.directory}${rehearsalNote(state)}`,
    `command     ${a.command}`,
    `next        ${a.next}`,
    `log         ${a.log.lines} lines, head ${a.log.head}   (skillopt verify${a.directory === '.' ? '' : ` ${shellWord(a.directory)}`})`,
  ];
}

/** Where it first failed, as lines; the fix is what comes next. */
export function failureLines({ where, what, line }: FailurePoint): readonly string[] {
  return [`failed at   ${where}: ${what}${line === null ? '' : ` (line ${line} of the log)`}`];
}

/** Reflections take one or several calls of the optimizer's model, or runs of the agent. */
function calls({ optimizer }: AfterRun, { plan }: RunState): string {
  if (optimizer.requests === 0) return '';
  const cost = optimizer.costUsd === null || optimizer.costUsd === 0 ? '' : ` ($${optimizer.costUsd.toFixed(2)})`;
  return ` and ${askedOfText(plan, optimizer.requests)}${cost}`;
}

function tokens(a: AfterRun): string {
  return a.tokens === null || a.tokens === 0 ? '' : `, ${a.tokens} tokens`;
}

function duration(minutes: number): string {
  const seconds = minutes * 60;
  return seconds < 120 ? `${seconds.toFixed(1)} s` : `${minutes.toFixed(1)} min`;
}
