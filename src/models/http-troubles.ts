import type { UpstreamTrouble } from '../ports/gateway.ts';
import type { ModelErrorKind } from '../ports/model.ts';
import { type Endpoint, quoted } from './endpoint.ts';
import { againOf, failureOf } from './model-failures.ts';
import { kindOf, type Refusal } from './refusal.ts';
import type { Redirect, Silence } from './wire.ts';

// What goes wrong with a request over HTTP, in words, whoever sent it: a client of a provider or the gateway.

function trouble(
  kind: ModelErrorKind,
  what: string,
  where: string,
  spent: UpstreamTrouble['spent'],
  more: Parameters<typeof failureOf>[3] & { readonly retryAfterMs?: number | null } = {},
): UpstreamTrouble {
  const refusal = { kind, failure: failureOf(kind, what, where, more), retryAfterMs: more.retryAfterMs ?? null };
  return { refusal, again: againOf(refusal), spent };
}

/** The provider said no. An error inside an answer comes after work that may have been paid. */
export function refused(endpoint: Endpoint, refusal: Refusal): UpstreamTrouble {
  const kind = kindOf(refusal);
  const status = refusal.status === null ? '' : ` (${refusal.status})`;
  // what a provider says of a wrong key may show a part of it
  const words = kind === 'auth' ? '' : quoted(refusal.message, endpoint);
  const what = `${refusedWords[kind] ?? 'the request was refused'}${status}${words === '' ? '' : `: ${words}`}`;
  return trouble(kind, what, endpoint.where, refusal.status === null ? 'unknown' : 'nothing', {
    retryAfterMs: refusal.retryAfterMs,
    ...(kind === 'auth'
      ? {
          fix:
            endpoint.keyEnv === null
              ? 'name the variable that holds the key with "keyEnv"'
              : `check the key in ${endpoint.keyEnv}, and that it may use this model`,
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

/** It is not followed: the key and the prompt are for this server alone. */
export function sentElsewhere(endpoint: Endpoint, { status, to }: Redirect): UpstreamTrouble {
  const base = to?.replace(/(\/v1\/messages|\/chat\/completions|\/responses|\/v1beta\/models\/[^/]+)$/, '') ?? null;
  const where =
    base === null ? '' : `: it leads to ${quoted(base, endpoint)}, which was not followed with key and prompt`;
  return trouble('bad-request', `the server sends elsewhere (${status})${where}`, endpoint.where, 'nothing', {
    fix: 'set "baseUrl" to where the model answers',
  });
}

/** `waitedMs` = it was not waited as long as the settings say. */
export function silent(endpoint: Endpoint, silence: Silence, waitedMs?: number): UpstreamTrouble {
  const [mostMs, what] =
    silence === 'first-byte'
      ? [endpoint.firstByteMs, 'no byte of an answer came']
      : [endpoint.betweenMs, 'the answer stood still'];
  const setting = silence === 'first-byte' ? 'firstByteSec' : 'betweenSec';
  const seconds = waitedMs === undefined ? mostMs / 1000 : Number((waitedMs / 1000).toPrecision(2));
  return trouble('silent', `${what} for ${seconds} s`, endpoint.where, 'unknown', {
    fix: `try again; for a slow server raise "${setting}"`,
  });
}

/** Codes of the runtime for a server that can't be reached at all. */
const unreachable =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_NODATA|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ConnectionRefused|FailedToOpenSocket)$/;
const certificate = /CERT|SELF_SIGNED|ISSUER|UNABLE_TO_VERIFY|ALTNAME|^ERR_TLS/;

export function noNetwork(endpoint: Endpoint, error: unknown, beforeAnswer: boolean): UpstreamTrouble {
  const code = networkCode(error);
  if (certificate.test(code))
    return trouble('refused-connection', `the certificate was not accepted (${code})`, endpoint.where, 'unreached', {
      fix: 'check the URL, and that the authority of the certificate is trusted here',
      retryable: false,
    });
  if (unreachable.test(code))
    return trouble('refused-connection', `no connection (${code})`, endpoint.where, 'unreached');
  const named = code === '' ? '' : ` (${code})`;
  return trouble(
    'cut-off',
    beforeAnswer ? `the connection was closed without an answer${named}` : `the answer broke off${named}`,
    endpoint.where,
    'unknown',
  );
}

/** The code that the runtime gives a network error, or ''. */
export function networkCode(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** What came is no answer of this API. */
export function unreadable(endpoint: Endpoint, contentType: string | null): UpstreamTrouble {
  const page = contentType?.includes('html') === true;
  return trouble(
    'bad-reply',
    page ? 'a web page came in place of an answer' : 'what came is no stream of events of this protocol',
    endpoint.where,
    'unknown',
    page ? { code: 'config', retryable: true } : {},
  );
}

/** It ended in order, before the model had told its end. */
export function noEnding(endpoint: Endpoint): UpstreamTrouble {
  return trouble('cut-off', 'the answer ended before its end', endpoint.where, 'unknown');
}
