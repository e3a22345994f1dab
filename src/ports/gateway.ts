import type { Failure } from './failure.ts';
import type { ModelErrorKind } from './model.ts';
import type { Reading } from './outcome.ts';
import type { Preflight } from './preflight.ts';
import type { Usage } from './usage.ts';

/**
 * The APIs that agents speak: Anthropic Messages (`/v1/messages`), OpenAI Chat Completions (`/v1/chat/completions`) and
 * Responses (`/v1/responses`), Gemini (`/v1beta/models/NAME:generateContent`).
 */
export const protocols = ['messages', 'chat', 'responses', 'gemini'] as const;
export type Protocol = (typeof protocols)[number];

/** The APIs as people know them. */
export const apiNames: Readonly<Record<Protocol, string>> = {
  messages: 'Anthropic Messages',
  chat: 'OpenAI Chat Completions',
  responses: 'OpenAI Responses',
  gemini: 'Gemini',
};

/** Tokens of one request as a provider told them; null = it did not say. */
export type TokenCounts = {
  /** All tokens of the prompt, those from and for the cache among them. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` that is kept for an hour. */
  readonly cacheWriteHourTokens: number;
  /** What the provider itself says that the request cost, in US dollars; null = it did not say. */
  readonly toldUsd: number | null;
};

/** Nothing was told. */
export const unknownCounts: TokenCounts = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteHourTokens: 0,
  toldUsd: null,
};

/** An answer of a provider that is an error, as the gateway saw it. */
export type UpstreamRefusal = {
  readonly kind: ModelErrorKind;
  /** What failed, where, and the fix; without the key. */
  readonly failure: Failure;
  /** Milliseconds after which the provider wants to be asked again; null = it did not say. */
  readonly retryAfterMs: number | null;
};

/** What kept an answer from coming, or from coming to its end. */
export type UpstreamBreak =
  /** The runtime's error; `begun` = a part of the answer was there. */
  | { readonly kind: 'network'; readonly error: unknown; readonly begun: boolean }
  /** `ms` = it was not waited any longer; absent = as long as the settings of the endpoint say. */
  | { readonly kind: 'silent'; readonly before: 'first-byte' | 'next-byte'; readonly ms?: number }
  /** It ended in order before the model had told its end. */
  | { readonly kind: 'ended-early' }
  /** What came is no answer of this API. */
  | { readonly kind: 'bad-reply'; readonly contentType: string | null }
  /** The server sends elsewhere: from this URL to what the header `location` says; null = it did not say. */
  | { readonly kind: 'redirect'; readonly status: number; readonly from: string; readonly to: string | null };

/** A request that got no answer, and what follows from it. */
export type UpstreamTrouble = {
  readonly refusal: UpstreamRefusal;
  /** Why the same request may be answered later, in a few words for people; null = another try is of no use. */
  readonly again: string | null;
  /** `nothing`: it is known that it cost nothing · `unreached`: nor did it reach the provider · `unknown`: it may have been paid. */
  readonly spent: 'nothing' | 'unreached' | 'unknown';
};

/** The real endpoint behind a gateway: where requests go, with which key, and what they cost. Nothing of it is shown. */
export interface Upstream extends Preflight {
  /** `provider/model`. */
  readonly id: string;
  /** The model as the service names it: every request through the gateway asks for this one. */
  readonly model: string;
  /** Model and URL for messages: no key, no password, no query. */
  readonly where: string;
  /** The APIs that the endpoint speaks. */
  readonly protocols: readonly Protocol[];
  readonly hasPrice: boolean;
  /** Most tokens of an answer that the settings allow; null = as the provider has it. */
  readonly maxOutputTokens: number | null;
  /** The field of Chat Completions that bounds an answer here. */
  readonly chatBound: 'max_tokens' | 'max_completion_tokens';
  /** How long the endpoint may be silent before an answer begins, and within one, in milliseconds. */
  readonly firstByteMs: number;
  readonly betweenMs: number;
  /** The endpoint's URL for a request of this protocol; `path` as the agent asked for it, such as `/v1/messages?beta=true`. */
  url(protocol: Protocol, path: string): string;
  /** Headers that carry the real key; sent in place of the agent's own credentials. */
  headers(protocol: Protocol): Readonly<Record<string, string>>;
  /** Reads an answer that is an error; `status` null = it stood inside an answer. Never shows a key. */
  refusal(status: number | null, headers: Headers, body: string): UpstreamTrouble;
  broken(how: UpstreamBreak): UpstreamTrouble;
  /**
   * Reads the usage that an answer tells, an object of the API. `before` = what an earlier part of the same answer told;
   * null = this part stands at its beginning; `unknownCounts` = the answer is whole.
   */
  counts(protocol: Protocol, told: unknown, before: TokenCounts | null): TokenCounts;
  /** US dollars of one request; null = unknown. */
  costUsd(counts: TokenCounts): number | null;
}

/** What one rollout may spend at the gateway; null = unbounded. Tokens are in and out. */
export type GatewayLimits = {
  readonly requests: number | null;
  readonly tokens: number | null;
  readonly usd: number | null;
};

/** Why a rollout gets no further at the gateway. */
export type GatewayStop =
  | {
      readonly kind: 'limit';
      readonly limit: 'requests' | 'tokens' | 'usd';
      /** Whose limit it was. */
      readonly of: 'rollout' | 'session';
    }
  | { readonly kind: 'provider'; readonly refusal: UpstreamRefusal };

/** What the gateway saw of one rollout. */
export type GatewayReport = {
  /** Counted at first hand, side requests included. `requests` = those that reached the provider. */
  readonly usage: Usage;
  /** The skill's description stood in the first request with tools; null = no such request, or no skill. */
  readonly visible: Reading;
  /** A distinctive line of the skill's body stood in a later request; null = can't tell, or no skill. */
  readonly read: Reading;
  /** What ended it, or the provider's last refusal that no answer followed; null = none. */
  readonly stop: GatewayStop | null;
  /**
   * Wall time in which at least one request waited for the provider's sake (for a place in its lane, or between two
   * tries) and none was being answered, in milliseconds, the wait that is on included. It does not count towards the
   * rollout's deadline.
   */
  readonly waitedMs: number;
  /** Why the exchange file is not whole, for people; absent = it is. */
  readonly exchangeProblem?: string | undefined;
};

export type GatewayLeaseOptions = {
  /** The rollout's key, for the exchange file and messages. */
  readonly rollout: string;
  readonly limits: GatewayLimits;
  /** What is looked for in requests; null = no skill is mounted. */
  readonly skill: { readonly description: string; readonly body: string } | null;
  /** File that takes the raw exchange, one JSON line a request, without keys; null = none. */
  readonly exchangeFile: string | null;
  /**
   * What is cut off after so many milliseconds without a byte of an answer met with the provider's silence, whoever cut
   * it off; absent = after half of the endpoint's `firstByteMs`.
   */
  readonly silentMs?: number;
  /** Aborted when the rollout is cancelled. */
  readonly signal: AbortSignal;
};

/** One rollout's way to its model. */
export interface GatewayLease {
  /** `/t/<token>`: stands behind the origin under which the gateway is reached. The token is random and ends with the lease. */
  readonly path: string;
  /** The dummy key that agents are given. */
  readonly key: string;
  /** Aborted as soon as the rollout can get no further: a limit, or a provider that no waiting mends. */
  readonly stopped: AbortSignal;
  /** Hears of the waits of `waitedMs` as they pass, several times a second, so that a deadline can move. */
  readonly onWait: (listener: (ms: number, why: string) => void) => void;
  report(): GatewayReport;
  /** No request is answered any more; those under way are cut. Settles when the exchange file is whole. */
  close(): Promise<void>;
}

/** The loopback relay between agents and one model. */
export interface Gateway {
  readonly upstream: Upstream;
  /** `http://127.0.0.1:PORT`, for what runs outside a sandbox without network. */
  readonly origin: string;
  /** Unix socket that a sandbox without network is given. */
  readonly socketPath: string;
  lease(options: GatewayLeaseOptions): GatewayLease;
  /** Closes all leases; no connection, timer or socket file is left. */
  close(): Promise<void>;
}

/** A place in an endpoint's lane, given back by `leave`. */
export type LanePlace = {
  /** The call ended well: the lane may grow, and an episode of refusals may be over. */
  succeeded(): void;
  /** The endpoint wants fewer calls; none starts for `ms` milliseconds. */
  refused(ms: number): void;
  /** Gives the place back; once. */
  leave(): void;
};

/** Bounds how many calls run at one endpoint at once, whoever makes them. */
export interface EndpointLane {
  /** Waits for a place, in order of asking. Rejects with the signal's reason when it is aborted first. */
  enter(signal: AbortSignal): Promise<LanePlace>;
}

/** What of the session's limits is left for rollouts, by the ledger of what has ended. */
export interface SessionRoom {
  /** Null = no such limit. */
  left(): { readonly usd: number | null; readonly tokens: number | null };
  /** Whether the ledger has counted this rollout: until then the gateway counts what it has spent. */
  counts(rollout: string): boolean;
}
