import { resolve } from 'node:path';
import { agentName } from '../config/agent.ts';
import { hostEnvironment } from '../config/environment.ts';
import { type ModelConfig, modelSettings } from '../config/model.ts';
import type { Config } from '../config/schema.ts';
import { limitFindings } from '../gateway/limit-findings.ts';
import type { Gateway, SessionRoom } from '../ports/gateway.ts';
import type { Model, ModelWait } from '../ports/model.ts';
import type { Finding, Preflight } from '../ports/preflight.ts';
import { atFirstUse } from './gateway.ts';
import { telling } from './waits.ts';

/** Makes models, and the gateways to them. */
export type ModelMaker = {
  readonly model: (config: ModelConfig) => Promise<Model>;
  /** For agents that call the model from their own processes; `room` null = no limit bounds what they spend. */
  readonly gateway: (
    config: ModelConfig,
    o: { readonly sessionId: string; readonly room: SessionRoom | null },
  ) => Promise<Gateway>;
};

/**
 * Makes the models of a session: patient ones, whose calls at one endpoint go through one lane whatever their role. The
 * room of models is loaded when the first one is made. `onWait` hears when a provider makes a call wait.
 */
export function modelMaker(base: string, onWait: (wait: ModelWait, model: string) => void = () => {}): ModelMaker {
  const loading = () => import('../models/index.ts').then((room) => ({ ...room, lanes: new room.Lanes(MOST_CALLS) }));
  let room: ReturnType<typeof loading> | null = null;
  const loaded = () => {
    room ??= loading();
    return room;
  };
  const surroundings = () => ({ variables: hostEnvironment(), folder: resolve(base) });
  return {
    async model(config) {
      const { createModel, patient, lanes } = await loaded();
      const settings = modelSettings(config);
      const model = createModel(settings, surroundings());
      return telling(patient(model, { random: Math.random, lane: lanes.of(settings) }), onWait);
    },
    async gateway(config, o) {
      const { upstreamOf, lanes } = await loaded();
      const { createGateway } = await import('../gateway/index.ts');
      const settings = modelSettings(config);
      const upstream = upstreamOf(settings, surroundings());
      return atFirstUse(o.sessionId, upstream, (folder) =>
        createGateway({
          upstream,
          folder,
          lane: lanes.of(settings),
          room: o.room,
          random: Math.random,
          telling: (wait) => onWait(wait, upstream.id),
        }),
      );
    },
  };
}

/** Calls at a time at one endpoint; workers bound them before this does. */
const MOST_CALLS = 256;

/** A limit on money needs models that have a price. */
export function priced(config: Config, models: readonly Model[]): Preflight {
  return {
    async preflight() {
      const usd = config.limits.usd ?? null;
      if (usd === null) return [];
      const error = (what: string, fix: string): Finding => ({ level: 'error', what, where: 'limits.usd', fix });
      const unpriced = models
        .filter((model) => !model.hasPrice)
        .map(({ id }) =>
          error(
            `limits.usd can’t be held: the price of ${id} is not known`,
            'give it a "price" (US dollars for a million tokens in and out), or limit tokens or rollouts instead',
          ),
        );
      if (config.login !== 'subscription') return unpriced;
      const what = `limits.usd can’t be held: ${agentName(config.agent)} spends a share of its login’s subscription, and no dollars`;
      return [...unpriced, error(what, 'limit tokens, rollouts or minutes instead')];
    },
  };
}

/** A limit on the money of one rollout needs a price at its gateway; null = there is none. */
export function pricedRollouts({ agentLimits }: Pick<Config, 'agentLimits'>, gateway: Gateway | null): Preflight {
  return { preflight: async () => (gateway === null ? [] : limitFindings(gateway.upstream, agentLimits)) };
}
