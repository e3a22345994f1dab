import type { UpstreamTrouble } from '../ports/gateway.ts';
import { ModelError } from '../ports/model.ts';
import type { Usage } from '../ports/usage.ts';
import type { Endpoint } from './endpoint.ts';
import { noEnding, noNetwork, refused, sentElsewhere, silent, unreadable } from './http-troubles.ts';
import { refusedUsage } from './price.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import type { Wire } from './wire.ts';

/** A stream that holds what is no event of its protocol, or a failure: `error` is what the server said of it. */
export class BadStream extends Error {
  override readonly name = 'BadStream';

  constructor(
    message: string,
    readonly error?: unknown,
  ) {
    super(message);
  }
}

/** What a call over HTTP failed of. `spent` is what is known of the spend when the request reached the model. */
export function httpError(endpoint: Endpoint, wire: Wire, error: unknown, spent: Usage): ModelError {
  return asError(troubleOf(endpoint, wire, error), spent);
}

function troubleOf(endpoint: Endpoint, wire: Wire, error: unknown): UpstreamTrouble {
  if (wire.refusal !== null) return refused(endpoint, wire.refusal);
  if (wire.redirect !== null) return sentElsewhere(endpoint, wire.redirect);
  if (wire.silence !== null) return silent(endpoint, wire.silence);
  if (wire.networkError !== null) return noNetwork(endpoint, wire.networkError, wire.contentType === null);
  const told = errorInStream(error);
  if (told !== null) return refused(endpoint, told);
  return wire.endedMidLine ? noEnd(endpoint, wire) : unreadable(endpoint, wire.contentType);
}

/** The stream ended in order, but the model never told why it ended. */
export function endedEarly(endpoint: Endpoint, wire: Wire, spent: Usage): ModelError {
  return asError(noEnd(endpoint, wire), spent);
}

function noEnd(endpoint: Endpoint, wire: Wire): UpstreamTrouble {
  const type = wire.contentType ?? '';
  return !type.includes('event-stream') && /html|json/.test(type) ? unreadable(endpoint, type) : noEnding(endpoint);
}

function asError({ refusal, spent }: UpstreamTrouble, known: Usage): ModelError {
  const usage = spent === 'unknown' ? known : { ...refusedUsage, requests: known.requests };
  return new ModelError(refusal.kind, refusal.failure, usage, refusal.retryAfterMs);
}

/** Clients throw the error object that stood in a stream as `error`, without a status. */
function errorInStream(error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null;
  const { error: body } = error as Error & { readonly error?: unknown };
  return typeof body === 'object' && body !== null ? refusalOf(null, body, null) : null;
}
