import type { Reading } from './outcome.ts';
import type { Usage } from './usage.ts';

/** What a rollout may spend at the gateway; null = unbounded. */
export type GatewayLimits = {
  readonly requests: number | null;
  readonly tokens: number | null;
  readonly costUsd: number | null;
};

/** One rollout's way to its model: a URL and a dummy key; the real key never enters the sandbox. */
export interface GatewayLease {
  readonly baseUrl: string;
  readonly key: string;
  /** What was counted at first hand, and whether the skill's bytes were seen in a request. */
  report(): {
    readonly usage: Usage;
    readonly visible: Reading;
    readonly read: Reading;
    readonly providerStatus: number | null;
  };
  close(): Promise<void>;
}

/** The loopback relay between an agent and its model. */
export interface Gateway {
  lease(
    rollout: string,
    limits: GatewayLimits,
    skill: { readonly description: string; readonly lines: readonly string[] } | null,
  ): Promise<GatewayLease>;
  close(): Promise<void>;
}
