import { openGate } from '../../../events/gate-view.ts';
import type { RunState, StepState } from '../../../events/run-state.ts';
import type { Score } from '../../../events/shapes.ts';
import { gateText, scoreText } from '../../../events/words.ts';
import { fit, type Line, pad, padLeft, span, windowed } from '../../text.ts';
import type { Tone } from '../../theme.ts';
import type { Facts } from './facts.ts';

/** One row before it is laid out; `rest` stands in place of the columns from `gate` on. */
type Row = {
  readonly step: string;
  readonly rounds: string;
  readonly edits: string;
  readonly gate: string;
  readonly verdict: readonly [string, Tone];
  readonly selection: string;
  readonly change: string;
  readonly evidence: string;
  readonly mark: string;
  readonly tone: Tone;
};

/** Rows that can be selected: the baseline, every step, and the one that is open. */
export function rowCount(state: RunState): number {
  return 1 + state.steps.length + (isOpen(state) ? 1 : 0);
}

const isOpen = (state: RunState): boolean =>
  state.ended === null && (state.phase === 'searching' || (state.phase === 'measuring' && state.steps.length > 0));

/** The score table in `height` lines: its head, then the rows around the selected one; the newest when none is. */
export function scoreTable(f: Facts, width: number, height: number): readonly Line[] {
  const rows = [
    baseline(f.state),
    ...f.state.steps.map((s) => stepRow(f.state, s)),
    ...(isOpen(f.state) ? [openRow(f)] : []),
  ];
  const fits = Math.max(1, height - 1);
  const selected = Math.min(f.model.step ?? rows.length - 1, rows.length - 1);
  const first = Math.max(0, Math.min(selected - fits + 1 + (selected < rows.length - 1 ? 1 : 0), rows.length - fits));
  const shown = windowed(rows, first, fits);
  return [
    head(width, first),
    ...shown.map((r, i) => layOut(r, width, f.model.step !== null && first + i === selected)),
  ];
}

type Column = {
  readonly title: string;
  readonly width: number;
  readonly right?: true;
  readonly of: (r: Row) => string;
};

/** Columns that fit, most telling first to stay. */
function columns(width: number): readonly Column[] {
  const all: readonly (Column & { readonly from: number })[] = [
    { title: 'step', width: 4, right: true, from: 0, of: (r) => r.step },
    { title: 'rounds', width: 6, right: true, from: 96, of: (r) => r.rounds },
    { title: width >= 78 ? 'edits tried → kept' : 'edits', width: width >= 78 ? 18 : 8, from: 60, of: (r) => r.edits },
    { title: 'gate', width: width >= 60 ? 19 : 17, from: 44, of: (r) => r.gate },
  ];
  return all.filter((c) => width >= c.from);
}

function head(width: number, above: number): Line {
  const fixed = columns(width)
    .map((c) => (c.right ? padLeft(c.title, c.width) : pad(c.title, c.width)))
    .join('  ');
  const more = above > 0 ? `   ↑ ${above} more` : '';
  const rest = width >= 96 ? `verdict      selection      evidence` : 'verdict';
  return fit([span(`  ${fixed}  ${rest}${more}`, 'quiet')], width);
}

function layOut(r: Row, width: number, selected: boolean): Line {
  const fixed = columns(width)
    .map((c) => (c.right ? padLeft(c.of(r), c.width) : pad(c.of(r), c.width)))
    .join('  ');
  const [verdict, tone] = r.verdict;
  const tail: Line =
    width >= 96
      ? r.selection === ''
        ? [span(verdict, tone)]
        : [
            span(pad(verdict, 11), tone),
            span(`  ${pad(`${r.selection} ${r.change}`, 13)}  `),
            span(pad(r.evidence, 4)),
            span(`  ${r.mark}`, 'accent'),
          ]
      : [
          span(verdict, tone),
          span(r.selection === '' ? '' : ` ${r.selection} ${r.change}`),
          span(r.mark === '' ? '' : ` ${r.mark.slice(0, width >= 70 ? 6 : 1)}`, 'accent'),
        ];
  return fit([span(selected ? '▸ ' : '  ', 'accent'), span(`${fixed}  `, r.tone), ...tail], width);
}

const none = { rounds: '', gate: '', change: '', evidence: '', mark: '' };

function baseline(state: RunState): Row {
  const best = !state.steps.some((s) => s.gateAction === 'accept') && state.steps.length > 0;
  const score = state.seed.selection;
  return {
    ...none,
    step: '–',
    edits: 'the seed',
    verdict: ['baseline', 'quiet'],
    selection: score ? withShare(score) : '…',
    mark: best ? '★ best' : '',
    tone: 'plain',
  };
}

function stepRow(state: RunState, s: StepState): Row {
  const { candidate, incumbent } = s.selection;
  const accepted = s.gateAction === 'accept';
  const best = accepted && !state.steps.some((later) => later.step > s.step && later.gateAction === 'accept');
  const handedBack = state.confirmation?.result === 'not-confirmed';
  return {
    step: String(s.step),
    rounds: String(s.rounds),
    edits: `${s.tried} → ${s.edits.length}`,
    gate: gateText(s),
    verdict: verdict(s),
    selection: accepted ? withShare(candidate, s.metric) : '',
    change: accepted ? change(incumbent, candidate, s.metric) : '',
    evidence: s.confidence.toFixed(2).replace(/^0/, ''),
    mark: best ? (handedBack ? 'not confirmed' : '★ best') : '',
    tone: accepted ? 'plain' : 'quiet',
  };
}

/** A rejection says why in the place of numbers that nobody may compare. */
function verdict(s: StepState): readonly [string, Tone] {
  switch (s.gateAction) {
    case 'accept':
      return ['✓ accept', 'good'];
    case 'reject':
      return [`✗ reject  ${s.why}${s.draftDropped ? '; draft dropped' : ''}`, 'bad'];
    case 'indecisive':
      return [`? indecisive  ${s.why}`, 'warn'];
    default:
      return s.gateAction satisfies never;
  }
}

/** `9/12 75 %`; with a soft metric the mean. */
function withShare(s: Score, metric = 'hard'): string {
  if (metric !== 'hard' && s.mean !== null) return `${scoreText(s)} ${s.mean.toFixed(2)}`;
  return s.scored === 0 ? scoreText(s) : `${scoreText(s)} ${Math.round((100 * s.passed) / s.scored)} %`;
}

function change(before: Score, after: Score, metric: string): string {
  const by = metric === 'hard' ? after.passed - before.passed : (after.mean ?? 0) - (before.mean ?? 0);
  const amount = metric === 'hard' ? String(Math.abs(by)) : Math.abs(by).toFixed(2);
  return by > 0 ? `▲${amount}` : by < 0 ? `▼${amount}` : '=';
}

/** The step that is under way: rounds and edits so far, and what is going on in it. */
function openRow(f: Facts): Row {
  const { state } = f;
  const { rounds, tried } = state.openStep;
  const gate = openGate(state);
  const failing = [...state.train.values()].filter((passed) => !passed).length;
  const doing = gate
    ? `at the gate${gate.moreWins > 0 ? `: up to ${gate.moreWins} more to win` : ''}`
    : state.draft.length > 0
      ? `draft of ${state.draft.length}, ${failing} train ${failing === 1 ? 'task fails' : 'tasks fail'} still`
      : `${failing} train ${failing === 1 ? 'task fails' : 'tasks fail'}`;
  return {
    ...none,
    step: String(state.steps.length + 1),
    rounds: rounds === 0 ? '' : String(rounds),
    edits: `${tried} → ${state.draft.length}`,
    gate: gate ? `${gate.wins}–${gate.losses} after ${gate.pairs} of ${gate.of}` : '',
    verdict: [`◐ ${doing}`, 'live'],
    selection: '',
    tone: 'plain',
  };
}
