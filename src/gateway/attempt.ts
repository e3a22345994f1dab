import type { LanePlace, Upstream, UpstreamTrouble } from '../ports/gateway.ts';
import { unknownCounts } from '../ports/gateway.ts';
import type { LeaseState } from './lease-state.ts';
import type { Meter } from './spend.ts';
import { UpstreamCall, type UpstreamRequest } from './upstream-call.ts';

/** What an attempt is known by. */
export type AttemptHead = {
  readonly number: number;
  readonly attempt: number;
  /** As the API has it. */
  readonly path: string;
  /** Milliseconds that the agent's request had waited before. */
  readonly waitedMs: number;
  /** False: it costs nothing, such as a count of tokens. */
  readonly isPaid: boolean;
};

/** One request at the provider, with all that has to be done when it is over: `finish`, once. */
export class Attempt {
  readonly call: UpstreamCall;
  readonly #startedMs = performance.now();
  readonly #at = new Date().toISOString();
  readonly #answered: () => void;
  readonly #spent: ReturnType<LeaseState['spend']['begin']> | null;
  #isFinished = false;

  constructor(
    private readonly lease: LeaseState,
    upstream: Upstream,
    private readonly request: UpstreamRequest,
    private readonly head: AttemptHead,
    readonly place: LanePlace,
    signal: AbortSignal,
  ) {
    this.call = new UpstreamCall(upstream, request, signal);
    this.#answered = lease.clock.answering();
    this.#spent = head.isPaid ? lease.spend.begin(() => this.#meter) : null;
  }

  get tookMs(): number {
    return performance.now() - this.#startedMs;
  }

  /** Gives connection and place back, and writes down what it was. */
  finish(spent: 'answered' | UpstreamTrouble['spent'], trouble: string | null): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    const { call, request, head } = this;
    call.close();
    this.#spent?.(spent);
    this.lease.exchange.add({
      at: this.#at,
      request: head.number,
      attempt: head.attempt,
      protocol: request.protocol,
      path: head.path,
      status: call.status,
      trouble,
      waitedMs: Math.round(head.waitedMs),
      tookMs: Math.round(this.tookMs),
      counts: this.#meter.counts,
      costUsd:
        head.isPaid && spent !== 'nothing' && spent !== 'unreached' ? this.lease.spend.usageOf(this.#meter).costUsd : 0,
      body: request.body,
      answer: call.kept.text,
    });
    this.#answered();
    this.place.leave();
  }

  get #meter(): Meter {
    const { reader } = this.call;
    return {
      counts: reader?.counts ?? unknownCounts,
      charsIn: this.request.body.length,
      charsOut: reader?.chars ?? 0,
      beyondTokens: reader?.beyondTokens ?? false,
    };
  }
}
