import { fail } from '../../ports/failure.ts';
import type { Outcome } from '../../ports/outcome.ts';
import type { Finding } from '../../ports/preflight.ts';
import type { RolloutProgress, RolloutReport, RolloutRequest, Rollouts } from '../../ports/rollouts.ts';
import type { Check, PromptTask } from '../../ports/task.ts';
import { noUsage } from '../../ports/usage.ts';
import { sweepSession } from '../local/clean.ts';
import { reportsOf } from '../report-queue.ts';
import { cutText, normalizedTrajectory } from '../trajectory.ts';
import { chatPreflight, notAPrompt, runsCode } from './chat-preflight.ts';
import type { ChatOptions } from './options.ts';
import { performChat } from './perform-chat.ts';

type PerformOptions = { readonly signal: AbortSignal; readonly onProgress?: (progress: RolloutProgress) => void };

/** A detail is a line for people: longer ones are messages of providers. */
const maxDetailLength = 2_000;

/**
 * Prompts asked of a model, one call each, its answer checked. All requests of one call run side by side; the caller
 * bounds how many.
 */
export class ChatRollouts implements Rollouts {
  readonly batches = false;
  readonly #options: ChatOptions;

  constructor(options: ChatOptions) {
    this.#options = options;
  }

  preflight(): Promise<readonly Finding[]> {
    return chatPreflight(this.#options);
  }

  async versions(): Promise<Readonly<Record<string, string>>> {
    return { chat: this.#options.model.id };
  }

  /** Commands of checks are all that can be left behind. */
  sweep(): Promise<readonly string[]> {
    return sweepSession(this.#options.sessionId, this.#options.tempRoot);
  }

  performRollouts(requests: readonly RolloutRequest[], options: PerformOptions): AsyncIterable<RolloutReport> {
    return reportsOf(requests, options.signal, (request, signal) => this.#perform(request, signal, options));
  }

  async #perform(request: RolloutRequest, signal: AbortSignal, more: PerformOptions): Promise<RolloutReport> {
    const { key } = request;
    const startedAt = performance.now();
    if (signal.aborted) return { kind: 'cancelled', key, usage: noUsage };
    if (!isPrompt(request)) return { kind: 'failed', key, failure: notAPrompt(request.task.id), usage: noUsage };
    const { measures, unsandboxedAllowed } = this.#options;
    if (
      measures !== 'description' &&
      !unsandboxedAllowed &&
      request.task.checks.some((check: Check) => runsCode(check))
    ) {
      const what = 'a check would run a command without a sandbox, as you';
      const { failure } = fail('preflight', what, `task ${request.task.id}`, 'allow it with --allow-unsandboxed');
      return { kind: 'failed', key, failure, usage: noUsage };
    }
    const onPhase = (phase: RolloutProgress['phase']) => more.onProgress?.({ key, phase });
    const work = await performChat({ request, options: this.#options, cancelled: signal, onPhase });
    onPhase('clean');
    switch (work.kind) {
      case 'cancelled':
      case 'failed':
        return { ...work, key };
      case 'done': {
        const { usage, exit } = work;
        const trajectory = work.raw === null ? null : normalizedTrajectory(work.raw, []);
        const durationMs = performance.now() - startedAt;
        const versions = await this.versions();
        return {
          kind: 'finished',
          key,
          result: { outcome: shortened(work.outcome), trajectory, usage, exit, durationMs, versions },
        };
      }
      default:
        return work satisfies never;
    }
  }
}

function isPrompt(request: RolloutRequest): request is RolloutRequest<PromptTask> {
  return request.task.kind === 'prompt';
}

function shortened(outcome: Outcome): Outcome {
  if (outcome.status === 'scored') return outcome;
  return { ...outcome, detail: cutText(outcome.detail, maxDetailLength).text };
}
