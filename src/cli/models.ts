import { resolve } from 'node:path';
import { hostEnvironment } from '../config/environment.ts';
import { type ModelConfig, modelSettings } from '../config/model.ts';
import type { Config } from '../config/schema.ts';
import type { Model, ModelWait } from '../ports/model.ts';
import type { Preflight } from '../ports/preflight.ts';
import { telling } from './waits.ts';

/**
 * Makes the models of a session: patient ones, whose calls at one endpoint go through one lane whatever their role. The
 * room of models is loaded when the first one is made. `onWait` hears when a provider makes a call wait.
 */
export function modelMaker(
  base: string,
  onWait: (wait: ModelWait, model: string) => void = () => {},
): (config: ModelConfig) => Promise<Model> {
  const loading = () => import('../models/index.ts').then((room) => ({ ...room, lanes: new room.Lanes(MOST_CALLS) }));
  let room: ReturnType<typeof loading> | null = null;
  return async (config) => {
    room ??= loading();
    const { createModel, patient, lanes } = await room;
    const settings = modelSettings(config);
    const model = createModel(settings, { variables: hostEnvironment(), folder: resolve(base) });
    return telling(patient(model, { random: Math.random, lane: lanes.of(settings) }), onWait);
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
      return models
        .filter((model) => !model.hasPrice)
        .map((model) => ({
          level: 'error' as const,
          what: `limits.usd can’t be held: the price of ${model.id} is not known`,
          where: 'limits.usd',
          fix: 'give it a "price" (US dollars for a million tokens in and out), or limit tokens or rollouts instead',
        }));
    },
  };
}
