import { openGate } from '../../../events/gate-view.ts';
import { optimizerText } from '../../../events/optimizer-words.ts';
import { counted, progress } from '../../../events/progress.ts';
import { callsNoModel, rehearsed } from '../../../events/rehearsal-words.ts';
import type { RunState } from '../../../events/run-state.ts';
import { minutesText, optimizedPart, scoreText, unknownCostText } from '../../../events/words.ts';
import { clock, cut, ends, fit, type Line, lineWidth, span, widthOf } from '../../text.ts';
import type { Tone } from '../../theme.ts';
import { type Facts, goesOnIn } from './facts.ts';
import type { Stage } from './model.ts';

/** Two lines: what is optimized and where it stands; how far it has come and what it has cost. */
export function header(f: Facts, width: number): readonly Line[] {
  return [first(f, width, standing(f, width)), second(f, width)];
}

/** The first line of a session that does not run. */
export const stoppedHeader = (f: Facts, width: number): Line => first(f, width, [span('stopped', 'warn')]);

function first(f: Facts, width: number, stands: Line): Line {
  const { session } = f.state;
  const right: Line = [...stands, span(' ')];
  const brand = span(' skillopt ', 'accent');
  if (!session) return ends([brand], right, width);
  const room = width - widthOf(brand.text) - lineWidth(right) - 1;
  const forms = where(f);
  const whole = optimizedPart(f.state) === 'description' ? `${session.skill.name} · description` : session.skill.name;
  const about = forms.find((l) => lineWidth([span(whole), ...l]) <= room) ?? forms.at(-1) ?? [];
  const name = cut(whole, Math.max(3, room - lineWidth(about)));
  return ends([brand, span(name, 'strong'), ...about], right, width);
}

/**
 * Backend, agent, model, from the whole to the least of it: the skill's name goes before. A rehearsal says so in the
 * model's place, at every width, and that it is slowed down.
 */
function where(f: Facts): readonly Line[] {
  const { session, plan } = f.state;
  if (!session) return [];
  const { backend, agent, model } = session.environment;
  const here = [...new Set([backend, agent]), ...(model === null ? [] : [model])].join(' · ');
  const rehearsal = rehearsed(f.state);
  if (rehearsal === null)
    return [[span(`  ${here} · optimizer ${optimizerText(plan)}`, 'quiet')], [span(`  ${here}`, 'quiet')], []];
  const slowed = f.slowedMs > 0 ? `slowed by ${(f.slowedMs / 1000).toFixed(2)} s` : '';
  const said = (before: string, after: string): Line => [
    span(before, 'quiet'),
    span('REHEARSAL', 'warn'),
    span(after, 'quiet'),
  ];
  return [
    said(`  ${here}  `, `  ${rehearsal}${slowed === '' ? '' : `, ${slowed}`}`),
    said(`  ${here}  `, `  ${slowed}`),
    said(`  ${backend}  `, `  ${slowed}`),
    said('  ', `  ${slowed}`),
    said(' ', ''),
  ];
}

/** What is going on, in a word or two. */
function standing(f: Facts, width: number): Line {
  const { model } = f;
  if (model.ending === 'over') return [span('over', 'strong')];
  if (model.ending === 'now') return [span('stopping', 'warn')];
  if (f.paused) {
    const goesOn = goesOnIn(f);
    return [span(`paused${goesOn === '' ? '' : ` · ${goesOn}`}${width >= 60 ? atWork(f) : ''}`, 'warn')];
  }
  const [text, tone] = phase(f.state, width);
  return [span(text, tone), span(wanted(f, width), 'warn')];
}

/** What a pause lets come to its end. */
function atWork({ state, resumesAtMs }: Facts): string {
  if (state.reflecting && resumesAtMs === null) return ', the optimizer still reads';
  return state.running.size > 0 ? `, ${state.running.size} still running` : '';
}

/** What the user has asked for and what is still to come. */
function wanted(f: Facts, width: number): string {
  const stage = stageOf(f.state);
  if (f.model.ending === 'after-step' && stage !== 'test')
    return width < 60 ? ', last' : stage === 'confirmation' ? ' · stops after it' : ' · stops after this step';
  if (f.model.finishing && stage === 'search') return width < 60 ? ', ending' : ' · ends at the next point';
  return '';
}

/** Where the run is, as far as wishes go. */
export function stageOf(state: RunState): Stage {
  if (state.plan === null) return 'opening';
  if (state.finalizeStarted) return 'test';
  return state.ended !== null || state.phase === 'confirming' ? 'confirmation' : 'search';
}

function phase(state: RunState, width: number): readonly [string, Tone] {
  switch (state.phase) {
    case 'starting':
      return ['starting', 'quiet'];
    case 'measuring':
      return ['baseline', 'live'];
    case 'searching':
      return [`step ${state.steps.length + 1}${width >= 60 ? ` · ${within(state)}` : ''}`, 'live'];
    case 'confirming':
      return ['confirmation', 'live'];
    case 'searched':
      return ['search over', 'plain'];
    case 'finalizing':
      return ['sealed test', 'live'];
    case 'finished':
      return ['finished', 'good'];
    default:
      return state.phase satisfies never;
  }
}

/** The round within the step, or its gate. */
function within(state: RunState): string {
  if (openGate(state) !== null) return 'gate';
  return `round ${Math.max(1, state.openStep.rounds + (state.reflecting ? 1 : 0))}`;
}

function second(f: Facts, width: number): Line {
  const { state } = f;
  if (!state.session) return fit([span(` ${f.notice}`, 'quiet')], width);
  const p = progress(state, f.nowMs, f.finalizes);
  const { done, of, ofTest } = counted(state);
  const time = clock(p.minutes * 60_000);
  const left =
    p.leftMinutes !== null && p.leftMinutes >= 1 / 60
      ? ` · ${p.leftIsMost ? 'up to ' : ''}~${minutesText(p.leftMinutes)} left`
      : '';
  const spent = callsNoModel(state) ? '' : `  calls ${Math.max(state.calls, state.spend.requests)}  ${cost(state)}`;
  const right: Line = [...pair(state, width), span(' ')];
  const counts = ` ${ofTest ? 'test' : 'rollouts'} ${done}/${of} `;
  const short = ` ${done}/${of} `;
  const more = `${spent}  ${time}${left}`;
  const room = width - right.reduce((n, s) => n + widthOf(s.text), 0) - 1;
  const head = room - widthOf(counts) - widthOf(more) >= 8 ? counts : short;
  const bar = Math.min(30, room - widthOf(head) - widthOf(more));
  if (bar >= 4)
    return ends([span(head), ...meter(ofTest ? done : p.consumed, done, of, bar), span(more, 'plain')], right, width);
  const costs = callsNoModel(state) ? '' : ` ${cost(state)} `;
  const fits = widthOf(head) + widthOf(costs) + widthOf(time) + 1 <= room;
  return ends([span(head), span(`${fits ? costs : ''} ${time}`)], right, width);
}

/** Consumed by decisions, waiting for one, still free. */
function meter(consumed: number, done: number, of: number, width: number): Line {
  const cells = (n: number) => Math.min(width, Math.floor((n / Math.max(1, of)) * width));
  const full = cells(consumed);
  const half = Math.max(0, cells(done) - full);
  return [
    span('█'.repeat(full), 'accent'),
    span('▒'.repeat(half), 'accent'),
    span('░'.repeat(Math.max(0, width - full - half)), 'quiet'),
  ];
}

function cost(state: RunState): string {
  const { costUsd, uncounted } = state.spend;
  const least = uncounted > 0 ? '≥ ' : '';
  return costUsd === null
    ? unknownCostText(state.session)
    : costUsd === 0 && state.session?.environment.model == null
      ? 'no cost'
      : `${least}$${costUsd.toFixed(2)}`;
}

/** The measured pair: what the seed scored on selection, and what the best skill did. Never a ratio alone. */
function pair(state: RunState, width: number): Line {
  const { seed, finalized, confirmation, plan } = state;
  const metric = plan?.gate.metric;
  const label = (text: string) => span(width >= 60 ? `${text} ` : '', 'quiet');
  if (finalized) {
    const arm = (name: string) => scoreText(finalized.arms.find((a) => a.arm === name)?.score, metric);
    return [label('test'), span(`${arm('seed')} → ${arm('result')}`, 'strong')];
  }
  if (confirmation)
    return [
      label(confirmation.result === 'not-confirmed' ? 'not confirmed' : 'fresh runs'),
      span(`${scoreText(confirmation.seed, metric)} → ${scoreText(confirmation.final, metric)}`, 'strong'),
    ];
  if (!seed.selection) return [];
  const accepted = state.steps.findLast((s) => s.gateAction === 'accept');
  const best = accepted ? ` → ${scoreText(accepted.selection.candidate, metric)}` : '';
  return [label('selection'), span(`${scoreText(seed.selection, metric)}${best}`, 'strong')];
}
