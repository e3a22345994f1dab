import { decidedGate, type GateTask, type GateView, openGate } from '../../../events/gate-view.ts';
import { powerBasis, powerText } from '../../../events/power.ts';
import type { RunState, Screened, StepState } from '../../../events/run-state.ts';
import { editTitle, gateText, verdictText } from '../../../events/words.ts';
import { clock, fit, type Line, line, pad, span, widthOf, wrap } from '../../text.ts';
import type { Tone } from '../../theme.ts';
import { type Facts, since } from './facts.ts';
import { rowCount } from './score-table.ts';

export type EvidenceView = { readonly title: string; readonly lines: readonly Line[] };

/** Why a step came out as it did, task by task; of the open one how it stands; of the baseline what the seed scored. */
export function evidenceView(f: Facts, width: number): EvidenceView {
  const { state, model } = f;
  const newest = rowCount(state) - 1;
  const row = Math.min(model.step ?? newest, newest);
  if (row === 0) return { title: 'baseline', lines: baseline(f, width) };
  const step = state.steps[row - 1];
  if (step) return { title: `step ${step.step}`, lines: decided(f, step, width) };
  const gate = openGate(state);
  return { title: `step ${row}`, lines: gate ? open(f, gate, width) : screenings(f, width) };
}

function decided(f: Facts, step: StepState, width: number): Line[] {
  const gate = decidedGate(step);
  const tone: Tone = step.gateAction === 'accept' ? 'good' : step.gateAction === 'reject' ? 'bad' : 'warn';
  const edits = step.edits.map((hash) => f.state.edits.get(hash)).filter((e) => e !== undefined);
  return [
    ...wrap(verdictText(step), width - 2).map((t): Line => [span(` ${t}`, tone)]),
    fit(
      [span(` gate ${step.rule}: ${gateText(step)} · evidence ${step.confidence.toFixed(2)} (1 − p)`, 'quiet')],
      width,
    ),
    [],
    ...pairs(f, gate, width),
    [],
    fit([span(` ${edits.length} ${edits.length === 1 ? 'edit' : 'edits'} under test`, 'quiet')], width),
    ...edits.map((e): Line => [span('   + ', 'good'), span(editTitle(e, Math.max(12, width - 7)))]),
  ];
}

function open(f: Facts, gate: GateView, width: number): Line[] {
  const rest = gate.of - gate.pairs;
  return [
    fit(
      [
        span(' at the gate: ', 'live'),
        span(gateText(gate), 'strong'),
        span(`${gate.block > 0 ? ` · pass ${gate.block + 1} over selection` : ''}`, 'quiet'),
      ],
      width,
    ),
    ...wrap(`at most ${rest} still to come, ${gate.moreWins} of them can be won; a tie is rejected`, width - 2).map(
      (t): Line => [span(` ${t}`, 'quiet')],
    ),
    [],
    ...pairs(f, gate, width),
  ];
}

function pairs(f: Facts, gate: GateView, width: number): Line[] {
  const blocks = new Set(gate.tasks.map((t) => t.block)).size > 1;
  const name = Math.max(
    8,
    Math.min(Math.max(0, ...gate.tasks.map((t) => widthOf(t.task))) + (blocks ? 3 : 0), width - 34),
  );
  return [
    fit([span(` ${pad('task', name)}  best    ${gate.candidate === 'draft' ? 'draft' : 'new'}`, 'quiet')], width),
    ...gate.tasks.map((t): Line => {
      const flip: readonly [string, Tone] =
        t.flip === 'win'
          ? ['win', 'good']
          : t.flip === 'loss'
            ? ['loss', 'bad']
            : [t.flip === 'same' ? '–' : '', 'quiet'];
      const label = blocks ? `${t.task} ·${t.block + 1}` : t.task;
      return fit(
        [span(` ${pad(label, name)}  `), shape(t.before, null, f), after(t, f), span(flip[0], flip[1])],
        width,
      );
    }),
  ];
}

const after = (t: GateTask, f: Facts) => shape(t.after, t.running, f);

/** ● passed, ○ failed, ◑ in part, ! unscored, ◌ running, · not run. */
function shape(score: number | null | undefined, runningSince: string | null, f: Facts) {
  if (runningSince !== null && score === undefined) return span(pad(`◌ ${clock(since(f, runningSince))}`, 9), 'live');
  if (score === undefined) return span(pad('·', 8), 'quiet');
  if (score === null) return span(pad('! unscored', 11), 'warn');
  if (score === 1) return span(pad('●', 8), 'good');
  return score === 0 ? span(pad('○', 8), 'bad') : span(pad(`◑ ${score.toFixed(2)}`, 8), 'warn');
}

function baseline(f: Facts, width: number): Line[] {
  const { selection, train } = f.state.timeline;
  const lines = power(f, width);
  for (const split of ['selection', 'train'] as const) {
    const first = (split === 'selection' ? selection : train).find((t) => 'measured' in t)?.measured;
    lines.push(
      fit(
        [
          span(` ${split}`, 'accent'),
          span(split === 'selection' ? '  what edits are judged on' : '  what the optimizer may read', 'quiet'),
        ],
        width,
      ),
    );
    if (!first) lines.push(line('   not measured yet', 'quiet'));
    else
      for (const [task, score] of first.tasks) lines.push(fit([span('   '), shape(score, null, f), span(task)], width));
    lines.push([]);
  }
  return lines;
}

/** What a gate can tell, and what that rests on. */
function power(f: Facts, width: number): Line[] {
  if (f.power === null) return [];
  const basis = powerBasis(f.power);
  return [
    fit([span(' power', 'accent'), span('  what one gate can tell', 'quiet')], width),
    ...wrap(powerText(f.power), width - 4).map((text): Line => [span(`   ${text}`)]),
    ...(basis === '' ? [] : wrap(basis, width - 4).map((text): Line => [span(`   ${text}`, 'quiet')])),
    [],
  ];
}

/** Between two gates: what was tried in this step so far. */
function screenings(f: Facts, width: number): Line[] {
  const { state } = f;
  const { rounds } = state.openStep;
  if (state.phase === 'measuring' || state.phase === 'starting') return [line(' the seed is being measured', 'quiet')];
  const from = state.round - rounds + 1;
  const lines = roundsFrom(state, rounds > 0 ? from : Number.POSITIVE_INFINITY).map(([round, s]): Line => {
    const e = state.edits.get(s.edit);
    const mark: readonly [string, Tone] = s.kept ? ['+', 'good'] : ['−', 'quiet'];
    const came =
      s.task === null
        ? ''
        : s.passed === null
          ? ` ! ${s.task} could not be scored`
          : s.passed
            ? ` ● ${s.task}`
            : ` ○ ${s.task}`;
    const title = e ? editTitle(e, Math.max(12, width - widthOf(came) - 16)) : '';
    return fit(
      [
        span(` round ${String(round).padStart(2)} `, 'quiet'),
        span(`${mark[0]} `, mark[1]),
        span(title),
        span(came, s.passed ? 'good' : 'quiet'),
      ],
      width,
    );
  });
  return [
    ...wrap('no gate yet: each edit is tried once on the train task it says it would fix', width - 2).map(
      (text): Line => [span(` ${text}`, 'quiet')],
    ),
    [],
    ...(state.steps.length === 0 ? power(f, width) : []),
    ...(lines.length > 0 ? lines : [line(' nothing tried yet', 'quiet')]),
  ];
}

/** Edits that were tried from a round on, each with its round. */
function roundsFrom(state: RunState, from: number): readonly (readonly [number, Screened])[] {
  const { train } = state.timeline;
  const before = train.findLastIndex((t) => t.kind === 'round' && t.round < from);
  return train
    .slice(before + 1)
    .flatMap((t) => (t.kind === 'round' && t.round >= from ? t.screened.map((s) => [t.round, s] as const) : []));
}
