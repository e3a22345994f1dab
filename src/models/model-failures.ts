import type { Failure, FailureCode } from '../ports/failure.ts';
import { ModelError, type ModelErrorKind } from '../ports/model.ts';
import type { Usage } from '../ports/usage.ts';

/** What each kind of error is to a user: its code, the fix, and whether the same call may succeed later. */
type Kind = {
  readonly code: FailureCode;
  readonly fix: string;
  readonly retryable: boolean;
  /** Why another try within minutes may help, in a few words; absent = it is of no use. */
  readonly again?: string;
};

const kinds: Readonly<Record<ModelErrorKind, Kind>> = {
  'rate-limit': {
    code: 'environment-down',
    fix: 'wait a while, lower "workers", or raise the limit of the account',
    retryable: true,
    again: 'too many requests',
  },
  overloaded: {
    code: 'environment-down',
    fix: 'wait a while, or name another model',
    retryable: true,
    again: 'the provider is overloaded',
  },
  auth: { code: 'auth', fix: 'check the key', retryable: false },
  quota: { code: 'quota', fix: 'add credit or raise the spending limit at the provider', retryable: false },
  'model-not-found': {
    code: 'config',
    fix: 'check the name of the model, and "baseUrl" if it is set',
    retryable: false,
  },
  'context-too-long': { code: 'config', fix: 'name a model with a longer context', retryable: false },
  'bad-request': {
    code: 'config',
    fix: 'check the settings of the model (maxOutputTokens, temperature, tools)',
    retryable: false,
  },
  server: { code: 'environment-down', fix: 'try again later', retryable: true, again: 'the server failed' },
  'refused-connection': {
    code: 'environment-down',
    fix: 'check that the server runs and its URL',
    retryable: true,
    again: 'no connection',
  },
  'cut-off': {
    code: 'environment-down',
    fix: 'try again; check the network if it stays so',
    retryable: true,
    again: 'the answer broke off',
  },
  silent: {
    code: 'environment-down',
    fix: 'try again; for a slow server raise "firstByteSec" or "betweenSec"',
    retryable: true,
    again: 'no answer came',
  },
  'bad-reply': { code: 'environment-down', fix: 'check that "baseUrl" leads to such a server', retryable: false },
  'command-failed': { code: 'environment-down', fix: 'run the command by hand to see why', retryable: false },
};

/** What of a failure may differ from what its kind is. */
type Own = { readonly code?: FailureCode; readonly fix?: string; readonly retryable?: boolean };

/** A failure of this kind. Code, fix and `retryable` are the kind's own unless given. */
export function failureOf(kind: ModelErrorKind, what: string, where: string, own: Own = {}): Failure {
  const { code, fix, retryable } = kinds[kind];
  return { code: own.code ?? code, what, where, fix: own.fix ?? fix, retryable: own.retryable ?? retryable };
}

/** An error of this kind, with what the call cost. */
export function modelError(
  kind: ModelErrorKind,
  what: string,
  where: string,
  usage: Usage,
  more: Own & { readonly retryAfterMs?: number | null } = {},
): ModelError {
  return new ModelError(kind, failureOf(kind, what, where, more), usage, more.retryAfterMs ?? null);
}

/** Why another try of the same call within minutes may help, in a few words; null = it is of no use. */
export function againOf({
  kind,
  failure,
}: {
  readonly kind: ModelErrorKind;
  readonly failure: Failure;
}): string | null {
  return failure.retryable ? (kinds[kind].again ?? null) : null;
}
