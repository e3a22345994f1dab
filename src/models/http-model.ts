import type { Model, ModelCallOptions, ModelReply, ModelRequest } from '../ports/model.ts';
import { Draft } from './draft.ts';
import { type Endpoint, keyProblem } from './endpoint.ts';
import { endedEarly, httpError } from './http-errors.ts';
import { modelError } from './model-failures.ts';
import { preflightHttp } from './preflight.ts';
import { pricingOf, refusedUsage, usageOf } from './price.ts';
import { Wire } from './wire.ts';

/** Speaks one protocol: sends the request over the wire and writes the answer into the draft. */
export type Speak = (request: ModelRequest, key: string, wire: Wire, draft: Draft) => Promise<void>;

/** A model over HTTP. One call is one request: who waits and tries again is `patient`. */
export function httpModel(endpoint: Endpoint, speak: Speak): Model {
  const pricing = pricingOf(endpoint.settings.price, endpoint.model, endpoint.service);

  async function performCompletion(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
    options.signal.throwIfAborted();
    const problem = keyProblem(endpoint);
    if (problem !== null || endpoint.key === null) {
      const { what, fix } = problem ?? { what: 'there is no key', fix: 'name its variable with "keyEnv"' };
      throw modelError('auth', what, endpoint.where, { ...refusedUsage, requests: 0 }, { fix });
    }
    const wire = new Wire(endpoint, options.signal);
    const draft = new Draft(options);
    const spent = () => ({ ...usageOf(draft.counts, pricing), requests: draft.requests });
    try {
      await Promise.race([speak(request, endpoint.key, wire, draft), wire.stopped]);
    } catch (error) {
      options.signal.throwIfAborted();
      // an answer that has told its end is whole, whatever happens behind it
      if (!draft.ended) throw httpError(endpoint, wire, error, spent());
    } finally {
      wire.close();
    }
    options.signal.throwIfAborted();
    if (!draft.ended)
      throw wire.networkError === null ? endedEarly(endpoint, wire, spent()) : httpError(endpoint, wire, null, spent());
    return { parts: draft.parts(), stop: draft.stop(), usage: spent() };
  }

  return {
    id: endpoint.id,
    takesTools: endpoint.settings.tools ?? true,
    hasPrice: pricing.known,
    performCompletion,
    preflight: () => preflightHttp(endpoint),
  };
}
