import type { EventOf, LoggedEvent } from '../events/events.ts';
import { askedText } from '../events/optimizer-words.ts';
import { type Power, powerText } from '../events/power.ts';
import { counted, leftText, progress, standing, standingTexts } from '../events/progress.ts';
import type { RunState, StepState } from '../events/run-state.ts';
import {
  armNames,
  boundsText,
  confirmationText,
  countText,
  editTitle,
  flipsText,
  forkText,
  gateText,
  inputText,
  lookText,
  minutesText,
  REHEARSAL,
  reflectingText,
  rejectedText,
  SLOW_UPDATE,
  scoreText,
  triedText,
  verdictText,
} from '../events/words.ts';

/** Without a line for so long, the next finished rollout gives one. */
const QUIET_MS = 10_000;

/** Without a line for so long, what is at work gives one; then after twice the time, and so on up to the longest. */
const STILL_MS = 15_000;
const LONGEST_STILL_MS = 120_000;

/** Tasks that a gate won or lost, of each at most so many by name. */
const MOST_NAMES = 10;

/** What a pipe or a CI log shows as things happen. Give it every event after it stands in the log; it has no timer: who has one asks `still`. */
export class PlainLines {
  /** When the last line was written, by the times of the events. */
  private lastLineMs: number | null = null;
  private round = 0;
  private stillMs = STILL_MS;

  /** `powerOf` tells what one gate can tell, once the seed has met selection. */
  constructor(private readonly powerOf: (state: RunState) => Power | null) {}

  /** The lines that follow from one event; `state` holds the event already. */
  after(event: LoggedEvent, state: RunState): readonly string[] {
    const nowMs = Date.parse(event.at);
    // a clock that was set back starts the wait anew
    if (this.lastLineMs === null || nowMs < this.lastLineMs) this.lastLineMs = nowMs;
    const lines = this.counting(event, state, [...plainLines(event, state), ...this.power(event, state)]);
    if (lines.length === 0 && event.type === 'rollout.finished' && nowMs - this.lastLineMs >= QUIET_MS)
      lines.push(rolloutsLine(state, nowMs));
    if (lines.length > 0) {
      this.lastLineMs = nowMs;
      this.stillMs = STILL_MS;
    }
    return lines;
  }

  /** The line that is due when no event has come for long, as with a slow model; `nowMs` by the clock of the events. */
  still(state: RunState, nowMs: number): readonly string[] {
    if (this.lastLineMs === null || nowMs - this.lastLineMs < this.stillMs) return [];
    const text = atWorkText(state, nowMs);
    if (text === '') return [];
    this.lastLineMs = nowMs;
    this.stillMs = Math.min(LONGEST_STILL_MS, 2 * this.stillMs);
    return [`still       ${text}`];
  }

  /** Baseline, step and the first line of each round say how many rollouts decisions have consumed by now. */
  private counting(event: LoggedEvent, state: RunState, lines: readonly string[]): string[] {
    const [first, ...rest] = lines;
    if (first === undefined || !this.counts(event)) return [...lines];
    return [`${first} · ${state.planned} of ${state.plan?.budget ?? 0} rollouts`, ...rest];
  }

  private power(event: LoggedEvent, state: RunState): readonly string[] {
    if (event.type !== 'evaluation.finished' || event.split !== 'selection' || event.why !== 'seed') return [];
    const power = this.powerOf(state);
    return power === null ? [] : [`power       ${powerText(power)}`];
  }

  private counts(event: LoggedEvent): boolean {
    switch (event.type) {
      case 'evaluation.finished':
        return event.why === 'seed';
      case 'gate.decided':
        return true;
      case 'edit.rejected':
      case 'screening.decided': {
        const isFirst = event.round !== this.round;
        this.round = event.round;
        return isFirst;
      }
      default:
        return false;
    }
  }
}

/** What is at work, the oldest first; '' = nothing is. */
function atWorkText(state: RunState, nowMs: number): string {
  const since = (at: string) => minutesText((nowMs - Date.parse(at)) / 60_000);
  if (state.reflecting !== null) {
    const { calls, since: at } = state.reflecting;
    const called = calls === 0 ? '' : `, ${askedText(state.plan, calls)} so far`;
    return `the optimizer ${reflectingText(state.reflecting)}, ${since(at)}${called}`;
  }
  const [first, ...others] = [...state.running.values()].sort((a, b) => a.seq - b.seq);
  if (first === undefined) return '';
  const { done, of } = counted(state);
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `${done} of ${of} rollouts · at work: ${first.task} ${since(first.since)}${more}`;
}

function rolloutsLine(state: RunState, nowMs: number): string {
  const now = progress(state, nowMs);
  const { done, of, ofTest } = counted(state);
  const parts = [`${done} of ${of}${ofTest ? ' of the sealed test' : ''}`, minutesText(now.minutes), leftText(now)];
  return `rollouts    ${parts.filter(Boolean).join(' · ')}`;
}

/** The lines that follow from one event alone. */
function plainLines(event: LoggedEvent, state: RunState): readonly string[] {
  switch (event.type) {
    case 'session.created':
      return [
        `session     ${event.session} · ${event.config.optimize === 'description' ? 'description of the skill' : 'skill'} ${event.skill.name} · ${event.pack.tasks.length} tasks of ${event.pack.name} · ${environmentText(event.environment)}`,
        ...(event.rehearsal ? [`            ${REHEARSAL}`] : []),
        ...(event.fork ? [`            ${forkText(event.fork)}`] : []),
      ];
    case 'session.resumed':
      return resumed(event, state);
    case 'engine.changed':
      return [`engine      ${event.engine} from here on: it draws every decision so far the same`];
    case 'plan.fixed': {
      const s = state.splits;
      return [
        `plan        ${s?.train} train, ${s?.selection} selection, ${s?.test} test (sealed) · gate ${event.gate.rule} · budget ${event.budget} rollouts${boundsText(event)}`,
      ];
    }
    case 'evaluation.finished':
      return evaluation(event, state);
    case 'edit.rejected':
      return [
        `  ${`round ${event.round}`.padEnd(10)}${markOf(event)} ${rejectedText(event)}${title(state, event.edit)}`,
      ];
    case 'screening.decided':
      return [
        `  ${`round ${event.round}`.padEnd(10)}${event.kept ? '+' : '−'} ${triedText(event)}${title(state, event.edit)}`,
      ];
    case 'gate.decided':
      return gate(state);
    case 'confirmation.finished':
      return [
        `${event.result === 'not-confirmed' ? 'refuted  ' : 'confirmed'}   ${confirmationText(event, state.plan?.gate.metric)}`,
      ];
    case 'finalize.started':
      return [
        `test        the sealed split is opened: ${armNames(event.arms)}, interleaved`,
        ...(event.look > 1 ? [`            ${lookText(event.look)}`] : []),
      ];
    case 'finalize.finished':
      return event.arms.map((a) => `test        ${a.arm.padEnd(8)} ${scoreText(a.score, state.plan?.gate.metric)}`);
    case 'warning.raised':
      return [`warning     ${event.what}${event.fix ? ` · ${event.fix}` : ''}`];
    case 'session.paused':
      return [`paused      ${event.why} · ${event.fix}`];
    case 'concurrency.changed':
      return [`workers     ${event.workers} rollouts at a time`];
    case 'input.received': {
      const { about, says } = inputText(event.input);
      return [`${about.padEnd(12)}${says}`];
    }
    default:
      return [];
  }
}

function evaluation(event: EventOf<'evaluation.finished'>, state: RunState): readonly string[] {
  const score = scoreText(event.score, state.plan?.gate.metric);
  if (event.split === 'open') return [];
  return event.why === 'seed'
    ? [`baseline    ${event.split.padEnd(9)} ${score}`]
    : [`  ${event.split.padEnd(9)} ${score} (${event.why})`];
}

/** Budget and limits that are wanted from here on count before the engine has heard of them. */
function resumed(event: EventOf<'session.resumed'>, state: RunState): readonly string[] {
  const { session, plan, rollouts, steps } = state;
  const [, costs] = standingTexts(standing({ ...state, plan: plan && { ...plan, ...event.wanted } }));
  return [
    `resumed     session ${session?.session ?? ''} after ${countText(rollouts.finished, 'finished rollout')}${rollouts.inherited > 0 ? ` and ${rollouts.inherited} inherited` : ''}, step ${steps.length}; what finished is not performed again`,
    ...(costs === undefined ? [] : [`            ${costs}`]),
  ];
}

function gate(state: RunState): readonly string[] {
  const step = state.steps.at(-1);
  if (!step) return [];
  const changed = flipsText(step, MOST_NAMES);
  return [
    `step ${String(step.step).padEnd(7)}${step.kind ? SLOW_UPDATE : roundsText(step)} · gate ${gateText(step)}`,
    `            ${verdictText(step)}`,
    ...(changed === '' ? [] : [`            ${changed}`]),
  ];
}

function roundsText(step: StepState): string {
  const whole = step.edits.length > step.kept ? `, draft of ${step.edits.length}` : '';
  return `${countText(step.rounds, 'round')}, ${countText(step.tried, 'edit')} tried, ${step.kept} kept${whole}`;
}

/** `·` nothing was proposed, `!` nothing could be read, `−` an edit fell out. */
function markOf(event: EventOf<'edit.rejected'>): string {
  if (event.edit !== null) return '−';
  return event.reason === 'none-offered' ? '·' : '!';
}

function title(state: RunState, hash: string | null): string {
  const e = hash === null ? undefined : state.edits.get(hash);
  return e ? ` · ${editTitle(e, 36)}` : '';
}

/** A backend in which the agent is the model itself goes by its name alone. */
function environmentText({ backend, agent, model }: EventOf<'session.created'>['environment']): string {
  return [backend, ...(agent === backend ? [] : [`agent ${agent}`]), ...(model ? [`model ${model}`] : [])].join(', ');
}
