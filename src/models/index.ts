import type { ModelSettings } from '../config/model.ts';
import { nearest } from '../config/nearest.ts';
import { fail } from '../ports/failure.ts';
import type { Upstream } from '../ports/gateway.ts';
import type { Model } from '../ports/model.ts';
import { anthropicModel } from './anthropic.ts';
import { commandModel } from './command.ts';
import { type Endpoint, endpointOf } from './endpoint.ts';
import { openAiModel } from './openai.ts';
import { providerNames, services } from './services.ts';
import type { ModelSurroundings } from './surroundings.ts';
import { upstreamAt } from './upstream.ts';

export { type Charge, chargeOf } from './charge.ts';
export { Lane } from './lane.ts';
export { Lanes } from './lanes.ts';
export { type PatienceOptions, patient } from './patient.ts';
export { type RoundTrip, roundTrip, wordOf } from './round-trip.ts';
export type { ModelSurroundings } from './surroundings.ts';

/**
 * The model that the settings name; which provider it is stands before the first `/`. Nothing is sent and no key is
 * asked for before a call or `preflight`. Throws `config` when the provider is unknown or the settings lack something.
 * Importing this costs the price list; clients of providers are loaded at their first call.
 */
export function createModel(settings: ModelSettings, surroundings: ModelSurroundings): Model {
  const { provider, model, isBare } = namesIn(settings);
  if (provider === 'command') return commandModel(settings, model, surroundings);
  const endpoint = named(settings, { provider, model, isBare }, surroundings);
  return endpoint.service.protocol === 'anthropic' ? anthropicModel(endpoint) : openAiModel(endpoint);
}

/**
 * The endpoint that the settings name, for a gateway that stands before it. Nothing is sent before `preflight`. Throws
 * `config` as `createModel` does, and where a program stands in the endpoint's place.
 */
export function upstreamOf(settings: ModelSettings, surroundings: ModelSurroundings): Upstream {
  const names = namesIn(settings);
  if (names.provider === 'command')
    throw fail(
      'config',
      `${settings.model} is a program: agents call a model over HTTP`,
      `model ${settings.model}`,
      'name a model such as anthropic/…, openai/… or google/…, or a server of your own as openai-compatible/NAME with "baseUrl"; or let the agent in by its own login',
    );
  return upstreamAt(named(settings, names, surroundings));
}

type Names = { readonly provider: string; readonly model: string; readonly isBare: boolean };

function namesIn({ model: name }: ModelSettings): Names {
  const slash = name.indexOf('/');
  return slash < 0
    ? { provider: name, model: '', isBare: true }
    : { provider: name.slice(0, slash), model: name.slice(slash + 1), isBare: false };
}

function named(settings: ModelSettings, { provider, model, isBare }: Names, around: ModelSurroundings): Endpoint {
  const service = Object.hasOwn(services, provider) ? services[provider] : undefined;
  if (service === undefined) throw unknownProvider(settings.model, provider, isBare);
  if (model === '')
    throw fail('config', `${settings.model} names no model`, 'model', `write ${provider}/ and the name of a model`);
  if (settings.command !== undefined)
    throw fail(
      'config',
      `${settings.model} is no command`,
      'command of the model',
      'take "command" out, or name the model command/ and a name of your own',
    );
  return endpointOf(settings, service, [provider, model], around.variables);
}

function unknownProvider(name: string, provider: string, bare: boolean) {
  const near = nearest(provider, providerNames) ?? (bare ? makerOf(name) : null);
  const hint = bare && near !== null && near !== provider ? `${near}/${name}` : near;
  return fail(
    'config',
    bare ? `${name} names no provider` : `there is no provider ${provider}`,
    `model ${name}`,
    hint === null
      ? `write provider/model, with one of ${providerNames.join(', ')}`
      : `did you mean ${bare ? hint : `${near}${name.slice(provider.length)}`}?`,
  );
}

/** Whose model a bare name probably is. */
function makerOf(name: string): string | null {
  const makers: readonly (readonly [RegExp, string])[] = [
    [/^claude/i, 'anthropic'],
    [/^(gpt|o\d|chatgpt)/i, 'openai'],
    [/^gemini/i, 'google'],
    [/^(mistral|codestral|magistral)/i, 'mistral'],
    [/^deepseek/i, 'deepseek'],
    [/^grok/i, 'xai'],
  ];
  return makers.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}
