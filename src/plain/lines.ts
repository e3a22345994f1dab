import type { LoggedEvent } from '../events/events.ts';
import type { RunState } from '../events/run-state.ts';
import { editTitle, flips, gateText, REHEARSAL, scoreText, verdictText } from '../events/words.ts';

/** What a pipe or a CI log shows as things happen: the lines that follow from one event, after it stands in the log. */
export function plainLines(event: LoggedEvent, state: RunState): string[] {
  switch (event.type) {
    case 'session.created':
      return [
        `session     ${event.session} · skill ${event.skill.name} · ${event.pack.tasks.length} tasks of ${event.pack.name} · ${event.environment.backend}, agent ${event.environment.agent}${event.environment.model ? `, model ${event.environment.model}` : ''}`,
        ...(event.rehearsal ? [`            ${REHEARSAL}`] : []),
      ];
    case 'session.resumed':
      return [
        `resumed     session ${state.session?.session ?? ''} after ${state.rollouts.finished} finished rollouts, step ${state.steps.length}; what finished is not performed again`,
      ];
    case 'plan.fixed': {
      const s = state.splits;
      return [
        `plan        ${s?.train} train, ${s?.selection} selection, ${s?.test} test (sealed) · gate ${event.gate.rule} · budget ${event.budget} rollouts`,
      ];
    }
    case 'evaluation.finished':
      return evaluation(event, state);
    case 'edit.rejected':
      return [`  ${`round ${event.round}`.padEnd(10)}${rejected(event)}${title(state, event.edit)}`];
    case 'screening.decided':
      return [
        `  ${`round ${event.round}`.padEnd(10)}${event.kept ? '+' : '−'} ${screened(event)}${title(state, event.edit)}`,
      ];
    case 'gate.decided':
      return gate(state);
    case 'confirmation.finished':
      return [
        `${event.result === 'not-confirmed' ? 'refuted  ' : 'confirmed'}   ${event.result}, ${event.pairs} of ${event.of} pairs: selection ${scoreText(event.final, state.plan?.gate.metric)} against the seed’s ${scoreText(event.seed, state.plan?.gate.metric)}, fresh attempts (${event.wins}–${event.losses})`,
      ];
    case 'finalize.started':
      return ['test        the sealed split is opened: seed, result and no skill, interleaved'];
    case 'finalize.finished':
      return event.arms.map((a) => `test        ${a.arm.padEnd(8)} ${scoreText(a.score, state.plan?.gate.metric)}`);
    case 'warning.raised':
      return [`warning     ${event.what}${event.fix ? ` · ${event.fix}` : ''}`];
    case 'session.paused':
      return [`paused      ${event.why} · ${event.fix}`];
    case 'concurrency.changed':
      return [`workers     ${event.workers} rollouts at a time`];
    case 'input.received':
      if (event.input.kind === 'budget.changed') return [`budget      ${event.input.rollouts} rollouts from here on`];
      if (event.input.kind === 'limits.changed') return ['limits      changed from here on'];
      if (event.input.kind === 'limit.reached') return [`limit       the limit on ${event.input.limit} is reached`];
      return event.input.kind === 'environment.changed'
        ? [`warning     the environment changed (${event.input.what}); everything is measured anew`]
        : [];
    default:
      return [];
  }
}

function evaluation(event: Extract<LoggedEvent, { type: 'evaluation.finished' }>, state: RunState): string[] {
  const score = scoreText(event.score, state.plan?.gate.metric);
  if (event.split === 'open') return [];
  return event.why === 'seed'
    ? [`baseline    ${event.split.padEnd(9)} ${score}`]
    : [`  ${event.split.padEnd(9)} ${score} (${event.why})`];
}

function rejected(event: Extract<LoggedEvent, { type: 'edit.rejected' }>): string {
  if (event.reason === 'none-offered') return '· nothing proposed';
  const detail = event.detail.split('\n')[0] ?? '';
  return event.edit === null ? `! ${event.reason}: ${detail}` : `− not tried: ${detail}`;
}

/** `fixed TASK`, `TASK still fails` … */
function screened(event: Extract<LoggedEvent, { type: 'screening.decided' }>): string {
  if (event.task === null) return 'kept without a try';
  if (event.passed === null) return `${event.task} could not be scored`;
  return event.passed ? `fixed ${event.task}` : `${event.task} still fails`;
}

function gate(state: RunState): string[] {
  const step = state.steps.at(-1);
  if (!step) return [];
  const { won, lost } = flips(step);
  const tasks = [
    won.length > 0 ? `won ${won.join(', ')}` : '',
    lost.length > 0 ? `lost ${lost.join(', ')}` : '',
  ].filter(Boolean);
  return [
    `step ${String(step.step).padEnd(7)}${step.rounds} ${step.rounds === 1 ? 'round' : 'rounds'}, ${step.tried} ${step.tried === 1 ? 'edit' : 'edits'} tried, ${step.edits.length} in the draft · gate ${gateText(step)}`,
    `            ${verdictText(step)}`,
    ...(tasks.length > 0 ? [`            ${tasks.join('; ')}`] : []),
  ];
}

function title(state: RunState, hash: string | null): string {
  const e = hash === null ? undefined : state.edits.get(hash);
  return e ? ` · ${editTitle(e, 36)}` : '';
}
