import type { AgentLimits } from '../../../config/agent.ts';
import { fail, type SkilloptError } from '../../../ports/failure.ts';
import { addUsage, noUsage, type Usage } from '../../../ports/usage.ts';

/** Turns of an agent whose config names no limit: one that needs more goes round in circles. */
export const DEFAULT_REQUESTS = 50;

/** Replies after which a model that never tells its spend is known as one that does not. */
const SILENT_REPLIES = 3;

/**
 * What one rollout has spent, against its limits. Looked at before each request, so money and tokens may go over by
 * one. What is unknown counts as the dearest so far.
 */
export class Spending {
  #usage = noUsage;
  #replies = 0;
  readonly #tokens = new Sum();
  readonly #usd = new Sum();

  constructor(
    private readonly limits: AgentLimits,
    private readonly model: string,
  ) {}

  get usage(): Usage {
    return this.#usage;
  }

  /** Requests that were answered: what a provider refused and was asked again is no turn of the agent. */
  get replies(): number {
    return this.#replies;
  }

  replied(usage: Usage): void {
    this.#replies += 1;
    this.add(usage);
  }

  add(usage: Usage): void {
    this.#usage = addUsage(this.#usage, usage);
    const { inputTokens, outputTokens, costUsd } = usage;
    this.#tokens.add(inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens);
    this.#usd.add(costUsd);
  }

  /** Why no further request may be made, in words; null = one may. */
  reached(): string | null {
    const { requests, tokens, usd } = this.limits;
    const most = requests ?? DEFAULT_REQUESTS;
    if (this.#replies >= most) return `The rollout’s limit of ${most} requests was reached (agentLimits.requests).`;
    if (tokens !== null && this.#tokens.atMost >= tokens)
      return `The rollout’s limit of ${tokens} tokens was reached (agentLimits.tokens).`;
    if (usd !== null && this.#usd.atMost >= usd) return `The rollout’s limit of $${usd} was reached (agentLimits.usd).`;
    return null;
  }

  /** A limit that can't be held: the model does not tell what it would be held by. Null = all can. */
  unheld(): SkilloptError | null {
    if (this.#replies < SILENT_REPLIES) return null;
    const { tokens, usd } = this.limits;
    const key = tokens !== null && !this.#tokens.isKnown ? 'tokens' : usd !== null && !this.#usd.isKnown ? 'usd' : null;
    if (key === null) return null;
    const what = `agentLimits.${key} can’t be held: ${this.model} does not tell what its answers take`;
    return fail('config', what, `agentLimits.${key}`, 'limit "requests" of a rollout instead');
  }
}

/** A sum in which some parts may be unknown. */
class Sum {
  #known = 0;
  #dearest: number | null = null;
  #unknown = 0;

  add(part: number | null): void {
    if (part === null) {
      this.#unknown += 1;
      return;
    }
    this.#known += part;
    this.#dearest = Math.max(this.#dearest ?? 0, part);
  }

  get isKnown(): boolean {
    return this.#dearest !== null;
  }

  /** Each unknown part taken for as much as the dearest known one. */
  get atMost(): number {
    return this.#known + this.#unknown * (this.#dearest ?? 0);
  }
}
