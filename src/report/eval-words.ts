import type { EvalArm, EvalArmName, EvalRow } from '../events/eval-shapes.ts';
import type { ArmSpend, EvalState } from '../events/eval-state.ts';
import type { ArmSummary, Comparison, EvalSummary } from '../events/eval-summary.ts';
import { countText } from '../events/words.ts';
import { printableName } from '../ports/printable.ts';

/** Longest name of an arm or a task in a table. */
const WIDEST = 28;

export function cut(text: string, width = WIDEST): string {
  const all = [...printableName(text)];
  return all.length <= width ? all.join('') : `${all.slice(0, width - 1).join('')}…`;
}

/** What an arm is called: its skill's name; the path of the other one where both have the same name. */
export function armName(arms: readonly Pick<EvalArm, 'arm' | 'name' | 'from'>[], name: EvalArmName): string {
  const arm = arms.find((a) => a.arm === name);
  if (arm === undefined || name === 'no-skill') return 'no skill';
  const shared = arms.some((a) => a.arm !== name && a.name === arm.name);
  return name === 'other' && shared ? arm.from : arm.name;
}

/** `6 of 12`, or `6 of 11 (1 unscored)` */
function passedText(a: ArmSummary): string {
  return `${a.passed} of ${a.scored}${a.unscored > 0 ? ` (${a.unscored} unscored)` : ''}`;
}

/** The sentence a person wants: `with it 6 of 12, without it 5 of 12`. */
export function headline(state: EvalState, summary: EvalSummary): string {
  const arms = state.created?.arms ?? [];
  const parts = summary.arms.map((a) => {
    if (a.arm === 'skill') return `with it ${passedText(a)}`;
    return a.arm === 'no-skill'
      ? `without it ${passedText(a)}`
      : `with ${cut(armName(arms, 'other'), 60)} ${passedText(a)}`;
  });
  // the number without it belongs beside the one with it
  const sorted = [...parts].sort((a, b) => rank(a) - rank(b));
  const soFar = state.finished ? '' : `so far, after ${state.done} of ${state.of} attempts: `;
  return `${soFar}${sorted.join(', ')}`;
}

const rank = (part: string): number => (part.startsWith('with it') ? 0 : part.startsWith('without it') ? 1 : 2);

/** `won 2, lost 1, alike 9 of 12 tasks · evidence 0.50 that it helps (…)` */
export function comparisonText(c: Comparison, isFinished: boolean): string {
  const left = isFinished ? c.of - c.pairs : 0;
  const counts = `won ${c.wins}, lost ${c.losses}, alike ${c.pairs - c.wins - c.losses} of ${countText(c.pairs, 'task')}`;
  const without = left > 0 ? `, ${left} left out (unscored)` : '';
  if (c.wins === c.losses) return `${counts}${without} · no evidence either way`;
  const than = c.against === 'no-skill' ? ['helps', 'hurts'] : ['is better', 'is worse'];
  return `${counts}${without} · evidence ${evidenceText(c.evidence)} that it ${c.wins > c.losses ? than[0] : than[1]} (exact sign test over tasks, one-sided)`;
}

/** Two places; what would be rounded to certainty says that it is none. */
const evidenceText = (evidence: number): string => (evidence >= 0.995 ? 'over 0.99' : evidence.toFixed(2));

/** A share in whole percents; one pass or one fail among many is neither none nor all. */
export function percent(x: number): string {
  const whole = Math.round(100 * x);
  if (x > 0 && whole === 0) return '<1 %';
  return x < 1 && whole === 100 ? '>99 %' : `${whole} %`;
}

export function intervalText(interval: readonly [number, number] | null): string {
  return interval === null ? '–' : `${Math.round(100 * interval[0])} to ${percent(interval[1])}`;
}

/** Means a rollout: tokens, cost, turns and wall time; `?` = unknown, `≥` = some did not tell: what all others took, over all. */
export function spendCells(s: ArmSpend | undefined): readonly [string, string, string, string] {
  if (s === undefined || s.rollouts === 0) return ['–', '–', '–', '–'];
  const { rollouts } = s;
  const mean = (sum: number | null, untold: number, text: (mean: number) => string) =>
    sum === null || untold === rollouts ? '?' : `${untold > 0 ? '≥' : ''}${text(sum / rollouts)}`;
  return [
    mean(s.tokens, s.uncounted, (x) => `${Math.round(x)}`),
    mean(s.costUsd, s.uncounted, moneyText),
    mean(s.turns, s.turnsUntold, (x) => x.toFixed(1)),
    secondsText(s.durationMs / rollouts),
  ];
}

/** `$0`, `$0.00042`, `$1.25`: small amounts to two places that tell something. */
export function moneyText(usd: number): string {
  if (usd === 0) return '$0';
  return `$${usd >= 0.1 ? usd.toFixed(2) : Number(usd.toPrecision(2)).toFixed(Math.min(8, 1 - Math.floor(Math.log10(usd))))}`;
}

function secondsText(ms: number): string {
  return ms < 100_000 ? `${(ms / 1000).toFixed(ms < 9_950 ? 2 : 1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

/** An arm at one task: `2/3`, with the mean soft score where it says more; `–` = nothing is scored. */
export function cellText(row: EvalRow, arm: EvalArmName): string {
  const attempts = row.arms.find((a) => a.arm === arm)?.attempts ?? [];
  const scored = attempts.filter((a) => a.passed !== null);
  const unscored = attempts.length - scored.length;
  if (scored.length === 0) return unscored > 0 ? 'unscored' : '';
  const softs = scored.flatMap((a) => (a.soft === null ? [] : [a.soft]));
  const mean = softs.reduce((a, b) => a + b, 0) / softs.length;
  const says = softs.some((s) => s > 0 && s < 1) ? ` ${mean.toFixed(2)}` : '';
  return `${scored.filter((a) => a.passed).length}/${scored.length}${says}${unscored > 0 ? ` (${unscored} unscored)` : ''}`;
}

/** What has to be known to read the numbers right, a sentence each. */
export function evalNotes(state: EvalState, summary: EvalSummary): readonly string[] {
  const { created } = state;
  if (created === null) return [];
  const { pack, session, attempts, environment } = created;
  const silent = pack.tasks.filter((t) => t.shouldTrigger === false).length;
  const shut = summary.arms.find((a) => a.keptShut !== null)?.keptShut ?? null;
  const blind = shut === null ? 0 : shut.of - shut.told;
  const ofDescription = created.config.optimize === 'description';
  const untold = ofDescription ? 'as not passed' : 'by their checks alone';
  return [
    attempts === 1
      ? 'interval: 95 %, Clopper-Pearson, each task one draw'
      : 'interval: 95 %, Clopper-Pearson with the tasks as clusters (Korn-Graubard): attempts at one task are alike',
    ...(pack.tasks.length < pack.of
      ? [
          `${pack.tasks.length} of ${pack.of} tasks, drawn by the seed ${String(created.config.seed)}: the same for every skill`,
        ]
      : []),
    ...(silent === 0
      ? []
      : [
          `${countText(silent, 'task')} should not open the skill${
            shut === null || shut.told === 0
              ? `; whether it was opened can’t be told here, so they count ${untold}`
              : `: opened in ${shut.told - shut.shut} of ${shut.told}, which counts as not passed${blind > 0 ? `; ${blind} that can’t tell count ${untold}` : ''}`
          }`,
        ]),
    ...(ofDescription
      ? ['measured is the description: passed where the skill was opened and should be, or was not and should not']
      : []),
    ...(environment.opens ? [] : ['the whole skill stands in each request: "read" says only that it was sent']),
    ...(state.environmentChanged === null ? [] : [`the environment changed on the way: ${state.environmentChanged}`]),
    ...(session === null ? [] : [splitNote(session)]),
  ];
}

function splitNote(session: NonNullable<NonNullable<EvalState['created']>['session']>): string {
  const { split, look } = session;
  switch (split) {
    case 'train':
      return 'split train: the search saw these tasks, so a skill that it found looks better here than it is';
    case 'selection':
      return 'split selection: a skill that the search found was picked for being good here, so it looks better than it is';
    case 'test':
      return `split test: ${look === null ? 'the test has been opened before' : secondLookText(look)}`;
    default:
      return split satisfies never;
  }
}

/** A look by an eval is at least the second. */
function secondLookText(look: number): string {
  const before = look === 2 ? 'once' : `${look - 1} times`;
  return `look ${look}, the test was looked at ${before} before; whoever chose this skill after that may have learned from it`;
}
