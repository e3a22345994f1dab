import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EvalState } from '../events/eval-state.ts';
import type { RunState } from '../events/run-state.ts';
import type { Gateway, SessionRoom } from '../ports/gateway.ts';
import type { Limits } from '../ports/inputs.ts';
import { folderPrefix } from '../rollout/local/prepare.ts';

/** What has been spent in all, as far as it is known. */
export type SpentInAll = { readonly usd: number; readonly tokens: number };

export function spentInSession({ spend }: Pick<RunState, 'spend'>): SpentInAll {
  return { usd: spend.costUsd ?? 0, tokens: spend.tokens ?? 0 };
}

export function spentInEval({ spend, preflight }: Pick<EvalState, 'spend' | 'preflight'>): SpentInAll {
  const all = [...spend.values(), preflight];
  return {
    usd: all.reduce((sum, one) => sum + (one.costUsd ?? 0), 0),
    tokens: all.reduce((sum, one) => sum + (one.tokens ?? 0), 0),
  };
}

/** Work that has limits, and a log that tells what was spent. */
export type Bounded = {
  readonly limits: Limits;
  readonly spent: () => SpentInAll;
  /** Hears of each rollout, and each run of an agent as the optimizer, that the log has counted, by its key. */
  readonly onCounted: (listener: (key: string) => void) => void;
};

/** What of the limits is left for rollouts at the gateway; null = none bounds what they spend. */
export function roomOf({ limits, spent, onCounted }: Bounded): SessionRoom | null {
  const { usd = null, tokens = null } = limits;
  if (usd === null && tokens === null) return null;
  const counted = new Set<string>();
  onCounted((key) => counted.add(key));
  const left = (limit: number | null, used: number) => (limit === null ? null : Math.max(0, limit - used));
  return {
    left: () => {
      const used = spent();
      return { usd: left(usd, used.usd), tokens: left(tokens, used.tokens) };
    },
    counts: (key) => counted.has(key),
  };
}

/** A gateway that listens from its first use on: who is only asked for versions or findings opens no socket. */
export function atFirstUse(
  sessionId: string,
  upstream: Gateway['upstream'],
  make: (folder: string) => Gateway,
): Gateway {
  let made: { readonly gateway: Gateway; readonly folder: string } | null = null;
  const get = (): Gateway => {
    if (made === null) {
      // named like the folder of a rollout, so that it is found after a kill
      const folder = mkdtempSync(join(tmpdir(), folderPrefix(sessionId, 'gateway')));
      made = { folder, gateway: make(folder) };
    }
    return made.gateway;
  };
  return {
    upstream,
    get origin() {
      return get().origin;
    },
    get socketPath() {
      return get().socketPath;
    },
    lease: (options) => get().lease(options),
    close: async () => {
      if (made === null) return;
      const { gateway, folder } = made;
      made = null;
      await gateway.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
