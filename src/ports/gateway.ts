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

/** An answer of a provider that is an error, as the gateway saw it. */
export type UpstreamRefusal = {
  readonly kind: ModelErrorKind;
  /** What failed, where, and the fix; without the key. */
  readonly failure: Failure;
  /** Milliseconds after which the provider wants to be asked again; null = it did not say. */
  readonly retryAfterMs: number | null;
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
  /** How long the endpoint may be silent before an answer begins, and within one, in milliseconds. */
  readonly firstByteMs: number;
  readonly betweenMs: number;
  /** The endpoint's URL for a request of this protocol; `path` as the agent asked for it, such as `/v1/messages?beta=true`. */
  url(protocol: Protocol, path: string): string;
  /** Headers that carry the real key; sent in place of the agent's own credentials. */
  headers(protocol: Protocol): Readonly<Record<string, string>>;
  /** Reads an answer that is an error (`body` as text). */
  refusal(status: number, headers: Headers, body: string): UpstreamRefusal;
  /** What kept any answer from coming: no connection, cut off, silent. */
  broken(kind: 'refused-connection' | 'cut-off' | 'silent', detail: string): UpstreamRefusal;
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
  /** Milliseconds that requests waited for the provider's sake: they do not count towards the rollout's deadline. */
  readonly waitedMs: number;
};

export type GatewayLeaseOptions = {
  /** The rollout's key, for the exchange file and messages. */
  readonly rollout: string;
  readonly limits: GatewayLimits;
  /** What is looked for in requests; null = no skill is mounted. */
  readonly skill: { readonly description: string; readonly body: string } | null;
  /** File that takes the raw exchange, one JSON line a request, without keys; null = none. */
  readonly exchangeFile: string | null;
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
  /** Adds up the waits as they happen, so that a deadline can move. */
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
  /** What all leases have spent so far that is not yet told by a closed one. */
  close(): Promise<void>;
}
