import type { ModelError, ModelErrorKind } from '../ports/model.ts';
import type { Usage } from '../ports/usage.ts';
import { type Endpoint, quoted } from './endpoint.ts';
import { modelError } from './model-failures.ts';
import { refusedUsage } from './price.ts';
import { kindOf, type Refusal, refusalOf } from './refusal.ts';
import type { Redirect, Silence, Wire } from './wire.ts';

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
  if (wire.refusal !== null) return refused(endpoint, wire.refusal, { ...refusedUsage, requests: spent.requests });
  if (wire.redirect !== null) return sentElsewhere(endpoint, wire.redirect);
  if (wire.silence !== null) return silent(endpoint, wire.silence, spent);
  if (wire.networkError !== null) return noNetwork(endpoint, wire.networkError, wire.contentType === null, spent);
  const told = errorInStream(error);
  if (told !== null) return refused(endpoint, told, spent);
  if (wire.endedMidLine) return endedEarly(endpoint, wire, spent);
  return badReply(endpoint, wire, spent);
}

function refused(endpoint: Endpoint, refusal: Refusal, usage: Usage): ModelError {
  const kind = kindOf(refusal);
  const status = refusal.status === null ? '' : ` (${refusal.status})`;
  // what a provider says of a wrong key may show a part of it
  const words = kind === 'auth' ? '' : quoted(refusal.message, endpoint);
  const what = `${refusedWords[kind] ?? 'the request was refused'}${status}${words === '' ? '' : `: ${words}`}`;
  const key = endpoint.keyEnv ?? 'the key';
  return modelError(kind, what, endpoint.where, usage, {
    retryAfterMs: refusal.retryAfterMs,
    ...(kind === 'auth'
      ? {
          fix:
            endpoint.keyEnv === null
              ? 'name the variable that holds the key with "keyEnv"'
              : `check the key in ${key}, and that it may use this model`,
        }
      : {}),
  });
}

const refusedWords: Readonly<Partial<Record<ModelErrorKind, string>>> = {
  'rate-limit': 'too many requests',
  overloaded: 'the provider is overloaded',
  auth: 'the key was refused',
  quota: 'the account has no credit left',
  'model-not-found': 'there is no such model',
  'context-too-long': 'the prompt is too long for this model',
  server: 'the server failed',
};

function sentElsewhere(endpoint: Endpoint, { status, to }: Redirect): ModelError {
  const base = to?.replace(/(\/v1\/messages|\/chat\/completions)$/, '') ?? null;
  const where =
    base === null ? '' : `: it leads to ${quoted(base, endpoint)}, which was not followed with key and prompt`;
  return modelError('bad-request', `the server sends elsewhere (${status})${where}`, endpoint.where, refusedUsage, {
    fix: 'set "baseUrl" to where the model answers',
  });
}

function silent(endpoint: Endpoint, silence: Silence, spent: Usage): ModelError {
  const [ms, what] =
    silence === 'first-byte'
      ? [endpoint.firstByteMs, 'no byte of an answer came']
      : [endpoint.betweenMs, 'the answer stood still'];
  const setting = silence === 'first-byte' ? 'firstByteSec' : 'betweenSec';
  return modelError('silent', `${what} for ${ms / 1000} s`, endpoint.where, spent, {
    fix: `try again; for a slow server raise "${setting}"`,
  });
}

/** Codes of the runtime for a server that can't be reached at all. */
const unreachable =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_NODATA|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ConnectionRefused|FailedToOpenSocket)$/;
const certificate = /CERT|SELF_SIGNED|ISSUER|UNABLE_TO_VERIFY|ALTNAME|^ERR_TLS/;

function noNetwork(endpoint: Endpoint, error: unknown, beforeAnswer: boolean, spent: Usage): ModelError {
  const code = networkCode(error);
  if (certificate.test(code))
    return modelError(
      'refused-connection',
      `the certificate was not accepted (${code})`,
      endpoint.where,
      refusedUsage,
      {
        fix: 'check the URL, and that the authority of the certificate is trusted here',
        retryable: false,
      },
    );
  if (unreachable.test(code))
    return modelError('refused-connection', `no connection (${code})`, endpoint.where, refusedUsage);
  const named = code === '' ? '' : ` (${code})`;
  return modelError(
    'cut-off',
    beforeAnswer ? `the connection was closed without an answer${named}` : `the answer broke off${named}`,
    endpoint.where,
    spent,
  );
}

/** The code that the runtime gives a network error, or ''. */
export function networkCode(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Clients throw the error object that stood in a stream as `error`, without a status. */
function errorInStream(error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null;
  const { error: body } = error as Error & { readonly error?: unknown };
  return typeof body === 'object' && body !== null ? refusalOf(null, body, null) : null;
}

function badReply(endpoint: Endpoint, wire: Wire, spent: Usage): ModelError {
  const page = wire.contentType?.includes('html') === true;
  return modelError(
    'bad-reply',
    page ? 'a web page came in place of an answer' : 'what came is no stream of events of this protocol',
    endpoint.where,
    spent,
    page ? { code: 'config', retryable: true } : {},
  );
}

/** The stream ended in order, but the model never told why it ended. */
export function endedEarly(endpoint: Endpoint, wire: Wire, spent: Usage): ModelError {
  const type = wire.contentType ?? '';
  if (!type.includes('event-stream') && /html|json/.test(type)) return badReply(endpoint, wire, spent);
  return modelError('cut-off', 'the answer ended before its end', endpoint.where, spent);
}
