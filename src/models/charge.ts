import type { ModelSettings } from '../config/model.ts';
import { unknownCounts } from '../ports/gateway.ts';
import { isLoopback } from './loopback.ts';
import { pricingOf } from './price.ts';
import { services } from './services.ts';

/**
 * What calls of a model are charged at, as far as it can be told before one is made. `usd` tells US dollars of one
 * request · `free`: a price of 0 that is declared · `local`: a server on this machine that wants no key, of which no price
 * is known · `subscription`: a program that is logged in by itself · else `unknown`.
 */
export type Charge =
  | { readonly kind: 'usd'; readonly of: (inputTokens: number, outputTokens: number) => number | null }
  | { readonly kind: 'free' | 'local' | 'unknown' | 'subscription' };

/** Nothing is sent, and no key is looked at. */
export function chargeOf(settings: ModelSettings): Charge {
  const slash = settings.model.indexOf('/');
  const [provider, model] = [settings.model.slice(0, slash), settings.model.slice(slash + 1)];
  const service = Object.hasOwn(services, provider) ? services[provider] : undefined;
  const { price } = settings;
  if (price !== undefined && price.input === 0 && price.output === 0) return { kind: 'free' };
  if (provider === 'command' && price === undefined) return { kind: 'subscription' };
  const keyEnv = settings.keyEnv === undefined ? (service?.keyEnv ?? null) : settings.keyEnv;
  const url = settings.baseUrl ?? service?.baseUrl ?? null;
  if (price === undefined && keyEnv === null && url !== null && isLoopback(url)) return { kind: 'local' };
  const pricing = pricingOf(price, model, { priceProvider: service?.priceProvider ?? null, tellsCost: false });
  const of = (inputTokens: number, outputTokens: number) =>
    pricing.costUsd({ ...unknownCounts, inputTokens, outputTokens });
  return of(1_000, 1_000) === null ? { kind: 'unknown' } : { kind: 'usd', of };
}
