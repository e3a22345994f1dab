import type { FailureCode } from '../ports/failure.ts';
import { ModelError, type ModelErrorKind } from '../ports/model.ts';
import type { Usage } from '../ports/usage.ts';

/** What each kind of error is to a user: its code, the fix, and whether the same call may succeed later. */
const kinds: Readonly<
  Record<ModelErrorKind, { readonly code: FailureCode; readonly fix: string; readonly retryable: boolean }>
> = {
  'rate-limit': {
    code: 'environment-down',
    fix: 'wait a while, lower "workers", or raise the limit of the account',
    retryable: true,
  },
  overloaded: { code: 'environment-down', fix: 'wait a while, or name another model', retryable: true },
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
  server: { code: 'environment-down', fix: 'try again later', retryable: true },
  'refused-connection': { code: 'environment-down', fix: 'check that the server runs and its URL', retryable: true },
  'cut-off': { code: 'environment-down', fix: 'try again; check the network if it stays so', retryable: true },
  silent: {
    code: 'environment-down',
    fix: 'try again; for a slow server raise "firstByteSec" or "betweenSec"',
    retryable: true,
  },
  'bad-reply': { code: 'environment-down', fix: 'check that "baseUrl" leads to such a server', retryable: false },
  'command-failed': { code: 'environment-down', fix: 'run the command by hand to see why', retryable: false },
};

/** An error of this kind. `fix` and `retryable` are the kind's own unless given. */
export function modelError(
  kind: ModelErrorKind,
  what: string,
  where: string,
  usage: Usage,
  more: {
    readonly code?: FailureCode;
    readonly fix?: string;
    readonly retryable?: boolean;
    readonly retryAfterMs?: number | null;
  } = {},
): ModelError {
  const known = kinds[kind];
  const failure = {
    code: more.code ?? known.code,
    what,
    where,
    fix: more.fix ?? known.fix,
    retryable: more.retryable ?? known.retryable,
  };
  return new ModelError(kind, failure, usage, more.retryAfterMs ?? null);
}
