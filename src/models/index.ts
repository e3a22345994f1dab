import type { ModelSettings } from '../config/model.ts';
import { nearest } from '../config/nearest.ts';
import { fail } from '../ports/failure.ts';
import type { Model } from '../ports/model.ts';
import { anthropicModel } from './anthropic.ts';
import { commandModel } from './command.ts';
import { endpointOf } from './endpoint.ts';
import { openAiModel } from './openai.ts';
import { providerNames, services } from './services.ts';
import type { ModelSurroundings } from './surroundings.ts';

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
  const slash = settings.model.indexOf('/');
  const provider = slash < 0 ? settings.model : settings.model.slice(0, slash);
  const model = slash < 0 ? '' : settings.model.slice(slash + 1);
  if (provider === 'command') return commandModel(settings, model, surroundings);
  const service = Object.hasOwn(services, provider) ? services[provider] : undefined;
  if (service === undefined) throw unknownProvider(settings.model, provider, slash < 0);
  if (model === '')
    throw fail('config', `${settings.model} names no model`, 'model', `write ${provider}/ and the name of a model`);
  if (settings.command !== undefined)
    throw fail(
      'config',
      `${settings.model} is no command`,
      'command of the model',
      'take "command" out, or name the model command/ and a name of your own',
    );
  const endpoint = endpointOf(settings, service, [provider, model], surroundings.variables);
  return service.protocol === 'anthropic' ? anthropicModel(endpoint) : openAiModel(endpoint);
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
