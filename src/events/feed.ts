import type { EventOf, LoggedEvent } from './events.ts';
import { UNDONE } from './loop-facts.ts';
import type { FeedEntry, FeedKind, RunState, StepState } from './run-state.ts';
import {
  armNames,
  armsText,
  causeText,
  confirmationText,
  countText,
  editTitle,
  flipsText,
  forkText,
  gateText,
  inputText,
  lookText,
  oneLine,
  rejectedText,
  SLOW_UPDATE,
  scoreText,
  selectionText,
  stoppedText,
  triedText,
  whyText,
} from './words.ts';

/** Names in a sentence before it says `and 3 more`; the details have them all. */
const MOST_NAMES = 4;

/** The entries that follow from one event; `state` holds the event already. */
export function feedEntries(event: LoggedEvent, state: RunState): readonly FeedEntry[] {
  if (event.type === 'rollout.started' || event.type === 'rollout.finished') return []; // most of a log
  const entry = (kind: FeedKind, text: string, details: readonly string[] = []): readonly FeedEntry[] => [
    { at: event.at, kind, text: oneLine(text), details: details.map(oneLine).filter((d) => d !== '') },
  ];
  const metric = state.plan?.gate.metric ?? 'hard';
  switch (event.type) {
    case 'session.created':
      return event.fork ? entry('session', forkText(event.fork)) : [];
    case 'evaluation.finished':
      return event.split === 'open' ? [] : entry('measured', ...evaluation(event, metric));
    case 'edit.rejected':
      return entry('skipped', ...rejected(event, state));
    case 'screening.decided':
      return entry(event.kept ? 'kept' : 'dropped', `${title(state, event.edit)}: ${triedText(event)}`, [
        event.kept ? `the draft holds ${countText(event.draftSize, 'edit')}` : '',
      ]);
    case 'gate.decided': {
      const step = state.steps.at(-1);
      return step ? entry(step.gateAction, ...gate(step, state)) : [];
    }
    case 'confirmation.finished':
      return entry(
        event.result === 'improved' ? 'accept' : event.result === 'not-confirmed' ? 'reject' : 'measured',
        `confirmation: ${confirmationText(event, metric)}`,
        [event.result === 'not-confirmed' ? 'the seed is handed back; the test stays sealed' : ''],
      );
    case 'session.ended':
      return entry('session', `the search ended: ${causeText(event.cause)}`, [
        `${countText(event.steps, 'step')}, ${event.accepted} accepted · ${event.planned} rollouts · ${countText(event.calls, 'optimizer call')}`,
      ]);
    case 'finalize.started':
      return entry('test', `the sealed test is opened: ${armNames(event.arms)}, interleaved`, [
        event.look > 1 ? lookText(event.look) : '',
        event.attempts > 1 ? `${event.attempts} attempts a task and arm` : '',
      ]);
    case 'finalize.finished':
      return entry('test', `sealed test: ${armsText(event, metric)}`, [
        `the result won ${event.wins} and lost ${event.losses} of ${countText(event.pairs, 'task')} against the seed`,
        event.complete ? '' : 'cut short by a limit',
        event.environmentChanged ? `the environment changed on the way: ${event.environmentChanged}` : '',
      ]);
    case 'test.looked':
      return entry('test', `an eval looked at the test again: look ${event.look}`);
    case 'warning.raised':
      return entry('warning', event.what, [event.fix]);
    case 'session.paused':
      return entry('session', `paused: ${event.why}`, [event.fix]);
    case 'session.resumed':
      return entry('session', 'resumed: it goes on where it stopped');
    case 'engine.changed':
      return entry('session', `another version of the program goes on: ${event.program}, engine ${event.engine}`);
    case 'input.received': {
      const { about, says } = inputText(event.input);
      return about === 'warning' ? entry('warning', says) : entry('input', `${about}: ${says}`);
    }
    // the gate's entry has said these; what is at work shows itself elsewhere
    case 'incumbent.changed':
    case 'skill.added':
    case 'splits.fixed':
    case 'plan.fixed':
    case 'rollout.cancelled':
    case 'rollout.lost':
    case 'reflection.started':
    case 'reflection.finished':
    case 'evaluation.started':
    case 'concurrency.changed':
    case 'model.called':
    case 'eval.created':
    case 'eval.finished':
      return [];
    default:
      return event satisfies never;
  }
}

type Sentence = readonly [text: string, details: readonly string[]];

function evaluation(event: EventOf<'evaluation.finished'>, metric: string): Sentence {
  const of = (wanted: (score: number | null) => boolean) => event.tasks.filter(([, s]) => wanted(s)).map(([t]) => t);
  const failing = of((s) => s !== null && s < 1);
  const unscored = of((s) => s === null);
  const what = event.why === 'seed' ? `baseline: ${event.split}` : event.split;
  return [
    `${what} ${scoreText(event.score, metric)}${event.why === 'seed' ? '' : ` (${event.why})`}`,
    [
      failing.length > 0 ? `${metric === 'hard' ? 'not passed' : 'scored below 1'}: ${failing.join(', ')}` : '',
      unscored.length > 0 ? `could not be scored: ${unscored.join(', ')}` : '',
    ],
  ];
}

function rejected(event: EventOf<'edit.rejected'>, state: RunState): Sentence {
  const said = rejectedText(event);
  if (event.edit !== null) return [`${title(state, event.edit)}: ${said}`, []];
  return [`round ${event.round}: ${said}`, [event.reason === 'none-offered' ? event.detail : '']];
}

function gate(step: StepState, state: RunState): Sentence {
  const changed = flipsText(step, MOST_NAMES);
  const all = flipsText(step);
  const more = all === changed ? '' : all;
  const stopped = stoppedText(step, state.tasks.selection.length);
  const name = `step ${step.step}${step.kind ? ` (${SLOW_UPDATE})` : ''}`;
  switch (step.gateAction) {
    case 'accept':
      return [
        `${name} accepted: ${changed || 'its scores rose'}`,
        [`${gateText(step)} · ${selectionText(step)}`, more],
      ];
    case 'reject': {
      const dropped = step.draftDropped ? `the draft of ${countText(step.edits.length, 'edit')} is dropped` : '';
      return [
        `${name} rejected: ${[whyText(step), stopped, dropped].filter(Boolean).join('; ')}`,
        [step.why === UNDONE ? '' : gateText(step), all],
      ];
    }
    case 'indecisive':
      return [
        `${name} indecisive: ${[whyText(step), stopped].filter(Boolean).join('; ')}`,
        [step.pairs === 0 ? '' : gateText(step), all],
      ];
    default:
      return step.gateAction satisfies never;
  }
}

function title(state: RunState, hash: string): string {
  const edit = state.edits.get(hash);
  return edit ? editTitle(edit) : 'an edit';
}
