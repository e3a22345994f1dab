import type { Protocol, Upstream, UpstreamBreak, UpstreamTrouble } from '../ports/gateway.ts';
import { type Endpoint, keyProblem } from './endpoint.ts';
import { noEnding, noNetwork, refused, sentElsewhere, silent, unreadable } from './http-troubles.ts';
import { preflightHttp } from './preflight.ts';
import { pricingOf } from './price.ts';
import { refusalOf, retryAfterMs } from './refusal.ts';
import { toldCounts } from './told-counts.ts';
import { errorBody, redirectOf } from './wire.ts';

/** The endpoint as a gateway needs it. */
export function upstreamAt(endpoint: Endpoint): Upstream {
  const { settings, service } = endpoint;
  const pricing = pricingOf(settings.price, endpoint.model, service);
  return {
    id: endpoint.id,
    model: endpoint.model,
    where: endpoint.where,
    protocols: settings.protocols ?? service.speaks,
    hasPrice: pricing.known,
    maxOutputTokens: settings.maxOutputTokens ?? null,
    chatBound: service.bound,
    firstByteMs: endpoint.firstByteMs,
    betweenMs: endpoint.betweenMs,
    url: (protocol, path) => urlOf(endpoint, protocol, path),
    headers: (protocol) => headersOf(endpoint, protocol),
    refusal: (status, headers, body) =>
      refused(endpoint, refusalOf(status, errorBody(body), retryAfterMs(headers, Date.now()))),
    broken: (how) => brokenAt(endpoint, how),
    counts: toldCounts,
    costUsd: (counts) => pricing.costUsd(counts),
    preflight: () => preflightHttp(endpoint),
  };
}

/** A base URL may have the version of an API at its end, and the API of others below it. */
const version = /\/v1$/;
const versionOfGoogle = /\/(v1beta\/openai|v1beta|openai|v1)$/;

function urlOf({ baseUrl, service }: Endpoint, protocol: Protocol, path: string): string {
  switch (protocol) {
    case 'messages':
      return `${baseUrl.replace(version, '')}${path}`;
    case 'chat':
    case 'responses':
      // the base URL of Anthropic has no version, that of others has theirs
      return service.protocol === 'anthropic' ? `${baseUrl}${path}` : `${baseUrl}${path.replace(/^\/v1(?=\/)/, '')}`;
    case 'gemini':
      return `${baseUrl.replace(versionOfGoogle, '')}${path}`;
    default:
      return protocol satisfies never;
  }
}

/** Servers that speak an API of others take the key as their own API has it, or as that of the others: they are sent both. */
function headersOf(endpoint: Endpoint, protocol: Protocol): Readonly<Record<string, string>> {
  const { key, service, organization, project } = endpoint;
  // one that can't be sent is told by preflight, and by the provider's refusal
  if (key === null || keyProblem(endpoint) !== null) return {};
  const bearer = { authorization: `Bearer ${key}` };
  const foreign = service.protocol === 'anthropic' ? {} : bearer;
  switch (protocol) {
    case 'messages':
      return { ...foreign, 'x-api-key': key };
    case 'gemini':
      return { ...(service.speaks.includes('gemini') ? {} : bearer), 'x-goog-api-key': key };
    case 'chat':
    case 'responses':
      return {
        ...bearer,
        ...(organization === null ? {} : { 'openai-organization': organization }),
        ...(project === null ? {} : { 'openai-project': project }),
      };
    default:
      return protocol satisfies never;
  }
}

function brokenAt(endpoint: Endpoint, how: UpstreamBreak): UpstreamTrouble {
  switch (how.kind) {
    case 'network':
      return noNetwork(endpoint, how.error, !how.begun);
    case 'silent':
      return silent(endpoint, how.before, how.ms);
    case 'ended-early':
      return noEnding(endpoint);
    case 'bad-reply':
      return unreadable(endpoint, how.contentType);
    case 'redirect':
      return sentElsewhere(endpoint, redirectOf(how.status, how.from, how.to));
    default:
      return how satisfies never;
  }
}
