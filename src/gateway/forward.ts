import type { EndpointLane, LanePlace, Upstream, UpstreamTrouble } from '../ports/gateway.ts';
import type { ModelErrorKind, ModelWait } from '../ports/model.ts';
import { type Patience, waitBeforeTry } from '../ports/patience.ts';
import { errorAnswer } from './api-answers.ts';
import { Attempt } from './attempt.ts';
import { withoutSecrets } from './exchange-file.ts';
import { forwardedBody } from './forwarded-body.ts';
import { handOver } from './hand-over.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import type { LeaseState } from './lease-state.ts';
import { pause } from './pause.ts';
import { hasTools } from './request-texts.ts';
import type { Route } from './routes.ts';
import { stopAnswer } from './stop-answer.ts';
import type { CallEnd, Given } from './upstream-call.ts';

/** What forwarding needs beside the rollout: the same for all rollouts of a gateway. */
export type Way = {
  readonly upstream: Upstream;
  readonly lane: EndpointLane;
  readonly patience: Patience;
  /** A number from 0 to below 1, for the jitter of waits. */
  readonly random: () => number;
  /** Hears of each wait between two tries, for people. */
  readonly telling: (wait: ModelWait) => void;
  /** What must never reach an agent. */
  readonly secrets: readonly string[];
  /** Whether the server takes a wish for the usage of a streamed answer of Chat Completions; null = not known yet. */
  tellsUsage: boolean | null;
};

/** A request of an agent, read. */
export type Asked = {
  readonly route: Extract<Route, { readonly kind: 'ask' | 'count' }>;
  readonly headers: Headers;
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** Aborted when the agent leaves or the rollout has ended. */
  readonly signal: AbortSignal;
};

/** What no waiting and no other request mends. */
const finalKinds: readonly ModelErrorKind[] = ['auth', 'quota', 'model-not-found', 'refused-connection'];

type Trouble = Extract<CallEnd, { readonly kind: 'trouble' }>;

/**
 * One request of an agent on its way: the one owner of its waiting. It is tried again while no byte of an answer has
 * reached the agent. Rejects with the signal's reason.
 */
export class Forwarding {
  readonly #number: number;
  readonly #withTools: boolean;
  readonly #isPaid: boolean;
  #waitedMs = 0;
  /** What the tries so far have met with. */
  #met: UpstreamTrouble | null = null;

  constructor(
    private readonly way: Way,
    private readonly lease: LeaseState,
    private readonly asked: Asked,
  ) {
    this.#number = ++lease.arrived;
    this.#withTools = hasTools(asked.route.protocol, asked.value);
    this.#isPaid = asked.route.kind === 'ask';
  }

  async answer(): Promise<Response> {
    try {
      return await this.#tries();
    } catch (error) {
      // who did not want to wait any longer, the agent or its clock, met with what was waited for
      if (this.#met !== null) this.#refuse(this.#met);
      throw error;
    }
  }

  async #tries(): Promise<Response> {
    const { patience, telling } = this.way;
    let leftMs = patience.mostWaitMs;
    let withUsage = this.way.tellsUsage !== false;
    for (let n = 1, sent = 1; ; sent++) {
      const place = await this.#enter();
      const stop = this.#isPaid ? this.lease.admit(sent === 1) : this.lease.stop;
      if (stop !== null) {
        place.leave();
        return stopAnswer(this.asked.route.protocol, stop, this.lease.options.limits);
      }
      const { attempt, asksUsage } = this.#attempt(place, sent, withUsage);
      const end = await this.#begin(attempt);
      if (end.kind === 'answer') {
        if (asksUsage) this.way.tellsUsage = true;
        else if (!withUsage) this.way.tellsUsage = false;
        return this.#handOver(attempt, end);
      }
      this.#met = end.trouble;
      const mindsUsage = asksUsage && this.way.tellsUsage === null && mayMindUsage(end);
      const ms = mindsUsage ? 0 : this.#waitFor(end, n + 1, leftMs, place);
      attempt.finish(end.trouble.spent, end.trouble.refusal.kind);
      if (mindsUsage) withUsage = false;
      else if (ms === null) return this.#giveUp(end);
      else {
        n += 1;
        leftMs -= ms;
        const why = end.trouble.again ?? end.trouble.refusal.failure.what;
        telling({ why, n, of: patience.tries, ms });
        await this.#during(why, pause(ms, this.asked.signal));
      }
    }
  }

  #enter(): Promise<LanePlace> {
    return this.#during('other requests to the provider come first', this.way.lane.enter(this.asked.signal));
  }

  async #during<T>(why: string, promise: Promise<T>): Promise<T> {
    const fromMs = performance.now();
    try {
      return await this.lease.clock.during(why, promise);
    } finally {
      this.#waitedMs += performance.now() - fromMs;
    }
  }

  /** An attempt in the lane; where it can't be made, the place is given back. */
  #attempt(place: LanePlace, attempt: number, withUsage: boolean): { attempt: Attempt; asksUsage: boolean } {
    const { lease } = this;
    const { upstream } = this.way;
    const { route, headers, signal } = this.asked;
    const { protocol, path } = route;
    try {
      const { text: body, asksUsage } = forwardedBody(protocol, this.asked, {
        model: upstream.model,
        mostTokens: this.#isPaid ? lease.mostTokens : null,
        withUsage,
        chatBound: upstream.chatBound,
      });
      const credentials = upstream.headers(protocol);
      const request = {
        protocol,
        url: upstream.url(protocol, path),
        headers: requestHeaders(headers, credentials),
        body,
      };
      const head = { number: this.#number, attempt, path, waitedMs: this.#waitedMs, isPaid: this.#isPaid };
      return { attempt: new Attempt(lease, upstream, request, head, place, signal), asksUsage };
    } catch (error) {
      place.leave();
      throw error;
    }
  }

  async #begin(attempt: Attempt): Promise<CallEnd> {
    const { upstream } = this.way;
    try {
      return await attempt.call.begin();
    } catch (error) {
      // the patience of an agent may be shorter than ours, and so may be its time
      if (attempt.tookMs > Math.min(upstream.firstByteMs / 2, this.lease.options.silentMs ?? Number.POSITIVE_INFINITY))
        this.#met ??= upstream.broken({ kind: 'silent', before: 'first-byte', ms: attempt.tookMs });
      attempt.finish('unknown', 'left');
      throw error;
    }
  }

  /** Milliseconds until the next try; null = there is none. The lane hears of a provider that wants fewer calls. */
  #waitFor({ trouble, isFinal }: Trouble, next: number, leftMs: number, place: LanePlace): number | null {
    const { patience, random } = this.way;
    const { kind, retryAfterMs } = trouble.refusal;
    const helps = trouble.again !== null && !isFinal && this.#isPaid;
    const ms = helps ? waitBeforeTry(next, patience, { retryAfterMs, leftMs, random }) : null;
    if (kind === 'rate-limit' || kind === 'overloaded')
      place.refused(ms ?? Math.min(retryAfterMs ?? 0, patience.mostWaitMs));
    return ms;
  }

  #handOver(attempt: Attempt, answer: Extract<CallEnd, { readonly kind: 'answer' }>): Response {
    const { lease } = this;
    if (this.#isPaid) lease.proof.see(this.asked.value, this.#withTools);
    return handOver(attempt, answer, this.asked.signal, (end) => {
      switch (end.kind) {
        case 'answered':
          attempt.place.succeeded();
          if (this.#isPaid) lease.answered(this.#number, this.#withTools);
          attempt.finish('answered', null);
          return;
        case 'trouble': {
          const { refusal } = end.trouble;
          if (refusal.kind === 'rate-limit' || refusal.kind === 'overloaded')
            attempt.place.refused(Math.min(refusal.retryAfterMs ?? 0, this.way.patience.mostWaitMs));
          attempt.finish('unknown', refusal.kind);
          this.#refuse(end.trouble, true);
          if (finalKinds.includes(refusal.kind)) this.#stop(end.trouble);
          return;
        }
        case 'left':
          attempt.finish('unknown', 'left');
          return;
        default:
          end satisfies never;
      }
    });
  }

  #refuse(trouble: UpstreamTrouble, isBroken = false): void {
    if (this.#isPaid) this.lease.refusedWith(trouble, this.#number, this.#withTools, isBroken);
  }

  #stop(trouble: UpstreamTrouble): void {
    this.lease.stopFor({ kind: 'provider', refusal: trouble.refusal });
  }

  /** The refusal as it came, and the rollout's end where nothing can follow. */
  #giveUp({ trouble, given, isFinal }: Trouble): Response {
    const { route } = this.asked;
    const { kind, failure } = trouble.refusal;
    this.#refuse(trouble);
    const isMissing = route.kind === 'ask' && route.isOptional && kind === 'model-not-found';
    const ends = isFinal || trouble.again !== null || finalKinds.includes(kind);
    if (this.#isPaid && ends && !isMissing) this.#stop(trouble);
    const words = `${failure.what} (${failure.where})`;
    if (given === null) return errorAnswer(route.protocol, isFinal ? 400 : 502, words);
    // what a provider says of a wrong key may show a part of it
    if (kind === 'auth') return errorAnswer(route.protocol, given.status, words);
    return asItCame(given, this.way.secrets);
  }
}

/** Some servers refuse what they do not know, and each says so in its own words: it is tried once without. */
function mayMindUsage({ trouble, given }: Trouble): boolean {
  return (given?.status === 400 || given?.status === 422) && trouble.refusal.kind === 'bad-request';
}

function asItCame({ status, headers, body }: Given, secrets: readonly string[]): Response {
  const text = new TextDecoder().decode(body);
  const clean = withoutSecrets(text, secrets);
  return new Response(clean === text ? body : clean, { status, headers: responseHeaders(headers) });
}
