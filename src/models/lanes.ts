import type { ModelSettings } from '../config/model.ts';
import { Lane } from './lane.ts';

/** One lane for each endpoint, over all models and roles of a session. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();

  constructor(private readonly most = 16) {}

  /** The lane of the endpoint that these settings lead to: provider, URL and key; for a command its name. */
  of(settings: ModelSettings): Lane {
    const provider = settings.model.slice(0, settings.model.indexOf('/'));
    const place = provider === 'command' ? settings.model : provider;
    const key = JSON.stringify([place, settings.baseUrl ?? null, settings.keyEnv ?? null]);
    const lane = this.#lanes.get(key) ?? new Lane(this.most);
    this.#lanes.set(key, lane);
    return lane;
  }
}
