import { openGate } from '../../../events/gate-view.ts';
import type { RunState, StepState } from '../../../events/run-state.ts';
import type { Score } from '../../../events/shapes.ts';
import { editsText, gateText, refusalTexts, scoreText } from '../../../events/words.ts';
import type { Tone } from '../../theme.ts';

/** A row of the score table before it is laid out. What has several forms goes from the longest to the shortest. */
export type Row = {
  readonly step: string;
  readonly rounds: string;
  readonly edits: readonly [long: string, short: string];
  readonly gate: string;
  readonly tone: Tone;
  readonly told: Told;
};

/** What stands right of the gate: measured scores, or a sentence in the place of numbers that nobody may compare. */
export type Told =
  | {
      readonly kind: 'scores';
      readonly verdict: readonly [text: string, mark: string, tone: Tone];
      readonly scores: readonly string[];
      readonly evidence: string;
      readonly mark: string;
    }
  | { readonly kind: 'says'; readonly tone: Tone; readonly forms: readonly string[] };

/** Rows that can be selected: the baseline, every step, and the one that is open. */
export function rowCount(state: RunState): number {
  return 1 + state.steps.length + (isOpen(state) ? 1 : 0);
}

const isOpen = (state: RunState): boolean =>
  state.ended === null && (state.phase === 'searching' || (state.phase === 'measuring' && state.steps.length > 0));

/** The row at a place: 0 is the baseline. */
export function rowAt(state: RunState, at: number): Row {
  const step = state.steps[at - 1];
  return at === 0 ? baseline(state) : step ? stepRow(state, step) : openRow(state);
}

/** What is handed over at the end when the result was not confirmed. */
const handedBack = (state: RunState): boolean => state.confirmation?.result === 'not-confirmed';

function baseline(state: RunState): Row {
  const isBest = handedBack(state) || (state.timeline.accepted.length === 0 && state.steps.length > 0);
  const score = state.seed.selection;
  return {
    step: '–',
    rounds: '',
    edits: ['the seed', 'seed'],
    gate: '',
    tone: 'plain',
    told: {
      kind: 'scores',
      verdict: ['baseline', '', 'quiet'],
      scores: score ? [share(score, state.plan?.gate.metric), figure(score, state.plan?.gate.metric)] : ['…'],
      evidence: '',
      mark: isBest ? '★ best' : '',
    },
  };
}

function stepRow(state: RunState, s: StepState): Row {
  const isLast = state.timeline.accepted.at(-1) === s.step;
  return {
    step: String(s.step),
    rounds: s.kind ? '' : String(s.rounds),
    edits: editsTexts({ ...s, draft: s.edits.length }),
    gate: gateText(s),
    tone: s.gateAction === 'accept' ? 'plain' : 'quiet',
    told:
      s.gateAction === 'accept'
        ? {
            kind: 'scores',
            verdict: ['✓ accept', '✓', 'good'],
            scores: changeForms(s),
            evidence: s.confidence.toFixed(2).replace(/^0/, ''),
            mark: isLast ? (handedBack(state) ? 'not confirmed' : '★ best') : '',
          }
        : {
            kind: 'says',
            tone: s.gateAction === 'reject' ? 'bad' : 'warn',
            forms: refusalTexts(s).map((text) => `${s.gateAction === 'reject' ? '✗' : '?'} ${text}`),
          },
  };
}

const editsTexts = (step: Parameters<typeof editsText>[0]): Row['edits'] => [
  editsText(step),
  editsText({ ...step, draft: 0 }),
];

/** `9/12 75 %`; with a soft metric the mean, which decides. */
function share(s: Score, metric = 'hard'): string {
  if (s.scored === 0) return scoreText(s);
  if (metric === 'hard') return `${scoreText(s)} ${Math.round((100 * s.passed) / s.scored)} %`;
  return `mean ${figure(s, metric)}${s.scored < s.of ? ` (${s.of - s.scored} unscored)` : ''}`;
}

/** `9/12`, or `0.62` */
function figure(s: Score, metric = 'hard'): string {
  return metric === 'hard' || s.mean === null ? `${s.passed}/${s.scored}` : s.mean.toFixed(2);
}

/** `14/16 88 % ▲2 (from 12/16)`: both sides are of the pairs that this gate compared. */
function changeForms(s: StepState): readonly string[] {
  const { candidate, incumbent } = s.selection;
  const [now, before] = [figure(candidate, s.metric), figure(incumbent, s.metric)];
  const by = change(s);
  return [
    `${share(candidate, s.metric)} ${by} (from ${before})`,
    `${now} ${by} (from ${before})`,
    `${share(candidate, s.metric)} ${by}`,
    `${now} ${by}`,
  ];
}

/** Tasks won more than lost; with a soft metric the mean difference of the pairs. */
function change(s: StepState): string {
  const pairs = s.tasks.flatMap((p) => (p.before === null || p.after === null ? [] : [p.after - p.before]));
  const sum = pairs.reduce((a, b) => a + b, 0);
  const amount = s.metric === 'hard' ? Math.abs(sum).toFixed(0) : Math.abs(sum / Math.max(1, pairs.length)).toFixed(2);
  return sum > 0 ? `▲${amount}` : sum < 0 ? `▼${amount}` : '=';
}

/** The step that is under way: rounds and edits so far, and what is going on in it. */
function openRow(state: RunState): Row {
  const { rounds, tried, kept } = state.openStep;
  const gate = openGate(state);
  const kind = state.guidance === null ? undefined : 'slow-update';
  return {
    step: String(state.steps.length + 1),
    rounds: rounds === 0 || kind ? '' : String(rounds),
    edits: editsTexts({ tried, kept, draft: state.draft.length, ...(kind && { kind }) }),
    gate: gate ? gateText(gate) : '',
    tone: 'plain',
    told: { kind: 'says', tone: 'live', forms: doing(state, gate?.moreWins ?? null).map((text) => `◐ ${text}`) },
  };
}

function doing(state: RunState, moreWins: number | null): readonly string[] {
  if (state.phase === 'measuring') return ['the best skill is measured anew', 'measured anew'];
  if (moreWins !== null)
    return moreWins === 0
      ? ['at the gate']
      : [`at the gate: at most ${moreWins} more can be won`, `at most ${moreWins} can be won`, 'at the gate'];
  let failing = 0;
  for (const passed of state.train.values()) if (!passed) failing++;
  const fails = `${failing} train ${failing === 1 ? 'task fails' : 'tasks fail'}`;
  return state.draft.length > 0
    ? [`draft of ${state.draft.length}, ${fails} still`, `draft of ${state.draft.length}, ${failing} failing`]
    : [fails, `${failing} failing`];
}
