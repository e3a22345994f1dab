import type { Failure } from '../../ports/failure.ts';
import { type ExitCause, type Outcome, type Reading, scored, unscored } from '../../ports/outcome.ts';
import type { RolloutProgress, RolloutRequest } from '../../ports/rollouts.ts';
import type { PromptTask } from '../../ports/task.ts';
import type { TrajectoryStep } from '../../ports/trajectory.ts';
import { noUsage, type Usage, unknownUsage } from '../../ports/usage.ts';
import { maxSearched } from '../checks/answer.ts';
import { formProblems } from '../checks/form.ts';
import { failureOf } from '../local/errors.ts';
import { troubleOf } from '../model-trouble.ts';
import type { RawTrajectory } from '../trajectory.ts';
import { type Triggers, triggersOf } from '../trigger/triggers.ts';
import { type Asked, askModel } from './ask-model.ts';
import { chatRequest, userText } from './chat-request.ts';
import { judgeAnswer } from './judge.ts';
import type { ChatOptions } from './options.ts';

/** What one rollout came to. `usage` of what is no outcome: absent = nothing that is known. */
export type ChatWork =
  | {
      readonly kind: 'done';
      readonly outcome: Outcome;
      readonly raw: RawTrajectory | null;
      readonly usage: Usage;
      readonly exit: ExitCause;
    }
  | { readonly kind: 'cancelled'; readonly usage?: Usage }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly usage?: Usage };

/** All that one rollout is made of. */
export type ChatRollout = {
  readonly request: RolloutRequest<PromptTask>;
  readonly options: ChatOptions;
  readonly cancelled: AbortSignal;
  readonly onPhase: (phase: RolloutProgress['phase']) => void;
};

/** A rollout that is under way; `triggers` = it is asked which skill a model would open, and not to do the task. */
type Asking = ChatRollout & { readonly triggers: Triggers | null };

/** Asks the model and has its answer checked. Never rejects. */
export async function performChat(given: ChatRollout): Promise<ChatWork> {
  const { request, options, cancelled, onPhase } = given;
  let rollout: Asking = { ...given, triggers: null };
  try {
    onPhase('prepare');
    if (options.measures === 'description') rollout = { ...given, triggers: triggersOf(request) };
    const asking = rollout.triggers?.request ?? chatRequest(request);
    if (cancelled.aborted) return { kind: 'cancelled', usage: noUsage };
    onPhase('agent');
    const timeoutMs = (request.task.agentTimeoutSec ?? options.defaultTimeoutSec) * 1000;
    const asked = await askModel(options.model, asking, { timeoutMs, cancelled });
    return await workOf(rollout, asked);
  } catch (error) {
    if (cancelled.aborted) return { kind: 'cancelled' };
    return brokenWork(error, rollout, unknownUsage, null);
  }
}

function brokenWork(error: unknown, { options }: ChatRollout, usage: Usage, raw: RawTrajectory | null): ChatWork {
  const failure = failureOf(error, options.tempRoot)?.failure;
  if (failure !== undefined) return { kind: 'failed', failure, ...(usage === unknownUsage ? {} : { usage }) };
  const outcome = unscored('environment', error instanceof Error ? error.message : String(error));
  return { kind: 'done', outcome, raw, usage, exit: raw === null ? 'crashed' : 'finished' };
}

/**
 * From how the call ended to the outcome. What decides where it is not plain:
 * - An answer that was cut at the token limit, refused by the model, or empty is the model's own: its checks score it.
 *   Only one that is empty and of no tokens at all is none.
 * - Late: what had come is scored, as with every agent; without a word of it the model did no work.
 * - A request that does not fit into the model is worth 0: it can't do the task with this skill. It would be no good to
 *   try again, and a skill that has grown too long for the model must not pass for a failure of the machinery.
 */
async function workOf(rollout: Asking, asked: Asked): Promise<ChatWork> {
  const { cancelled } = rollout;
  switch (asked.kind) {
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'timeout': {
      const note = 'The time was up; this is what had come until then.';
      if (asked.text.trim() !== '') return answered(rollout, asked.text, unknownUsage, { note, timedOut: true });
      const outcome = unscored('agent-did-no-work', 'the model had not answered with a word when the time was up');
      return {
        kind: 'done',
        outcome,
        raw: rawOf(rollout, null, ['The time was up.'], null),
        usage: unknownUsage,
        exit: 'timeout',
      };
    }
    case 'error': {
      const { failure, usage } = asked.error;
      const trouble = troubleOf(asked.error);
      if (cancelled.aborted) return { kind: 'cancelled', usage };
      if (trouble.kind === 'stop') return { kind: 'failed', failure, usage };
      const told = `${failure.what} (${failure.where})`;
      if (trouble.kind === 'unscored') {
        const outcome = unscored(trouble.reason, told);
        return {
          kind: 'done',
          outcome,
          raw: rawOf(rollout, null, [`The model gave no answer: ${told}.`], null),
          usage,
          exit: 'crashed',
        };
      }
      const note = 'The request is longer than the model takes: skill, prompt and files together.';
      const outcome =
        rollout.triggers?.outcomeOf(null) ?? scored({ reward: 0 }, 0, rollout.options.passThreshold, { read: null });
      return { kind: 'done', outcome, raw: rawOf(rollout, null, [note], told), usage, exit: 'nonzero' };
    }
    case 'reply': {
      const { stop, usage } = asked.reply;
      if (asked.text === '' && usage.outputTokens === 0 && stop !== 'refused') {
        const outcome = unscored('provider-error', 'the reply is empty, and of no tokens');
        return { kind: 'done', outcome, raw: rawOf(rollout, '', [], null), usage, exit: 'finished' };
      }
      const note =
        stop === 'length'
          ? 'The answer was cut at the limit of tokens.'
          : stop === 'refused'
            ? 'The model declined.'
            : null;
      return answered(rollout, asked.text, usage, { note, timedOut: false });
    }
    default:
      return asked satisfies never;
  }
}

/** An answer, checked. */
async function answered(
  rollout: Asking,
  text: string,
  usage: Usage,
  how: { readonly note: string | null; readonly timedOut: boolean },
): Promise<ChatWork> {
  const { request, options, cancelled, onPhase } = rollout;
  const spent = usage === unknownUsage ? {} : { usage };
  const notes = how.note === null ? [] : [how.note];
  const exit = how.timedOut ? 'timeout' : 'finished';
  const fits = request.task.noAnswer.find((pattern) => new RegExp(pattern).test(text.slice(0, maxSearched)));
  if (fits !== undefined) {
    const outcome = unscored('provider-error', `the answer is one that noAnswer names: /${fits}/`);
    return { kind: 'done', outcome, raw: rawOf(rollout, text, notes, null), usage, exit };
  }
  if (cancelled.aborted) return { kind: 'cancelled', ...spent };
  onPhase('verifier');
  if (rollout.triggers !== null) {
    const { outcome, note, report } = rollout.triggers.judge(text, how.timedOut);
    return { kind: 'done', outcome, raw: rawOf(rollout, text, [...notes, note], report), usage, exit };
  }
  try {
    const judged = await judgeAnswer(text, { task: request.task, key: request.key, options, cancelled });
    if (judged.kind === 'cancelled') return { kind: 'cancelled', ...spent };
    const raw = rawOf(rollout, text, [...notes, ...formProblems(request.task.checks, text)], judged.report);
    if (judged.kind === 'unscored') {
      return { kind: 'done', outcome: unscored(judged.reason, judged.detail), raw, usage, exit };
    }
    const more = { read: readingOf(request), agentTimedOut: how.timedOut };
    const outcome = scored({ reward: judged.soft }, judged.soft, options.passThreshold, more);
    return { kind: 'done', outcome, raw, usage, exit };
  } catch (error) {
    if (cancelled.aborted) return { kind: 'cancelled', ...spent };
    return brokenWork(error, rollout, usage, rawOf(rollout, text, notes, null));
  }
}

/** A model has read what stands in the request that it answered: the whole of the skill did. */
function readingOf(request: RolloutRequest<PromptTask>): Reading {
  return request.skill === null ? null : true;
}

/** What was said, without the skill's text, which the reader knows. `text` null: nothing was answered. */
function rawOf(
  { request: { task, skill }, triggers }: Asking,
  text: string | null,
  notes: readonly string[],
  verifierOutput: string | null,
): RawTrajectory {
  const steps: TrajectoryStep[] = [];
  if (task.system !== '') steps.push({ kind: 'message', role: 'system', text: task.system });
  if (triggers !== null) steps.push({ kind: 'note', text: triggers.shown });
  else if (skill !== null) steps.push({ kind: 'note', text: 'The whole skill stood in the system text.' });
  steps.push({ kind: 'message', role: 'user', text: userText(task) });
  if (text !== null) steps.push({ kind: 'message', role: 'agent', text });
  steps.push(...notes.map((note) => ({ kind: 'note', text: note }) as const));
  return { agent: 'chat', steps, finalText: text ?? '', verifierOutput };
}
