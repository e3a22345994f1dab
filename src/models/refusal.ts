import type { ModelErrorKind } from '../ports/model.ts';

/** An error as a provider told it. `status` is null when it came inside a stream. */
export type Refusal = {
  readonly status: number | null;
  /** Code and type of the provider, in lower case; what it named, and nothing of its message. */
  readonly names: readonly string[];
  /** The provider's words, for people alone. */
  readonly message: string;
  readonly retryAfterMs: number | null;
};

const longestRetryAfterMs = 3_600_000;

const quotaNames = [
  'insufficient_quota',
  'insufficient_balance',
  'billing_error',
  'billing_hard_limit_reached',
  'billing_not_active',
  'contract_spend_limit_reached',
  'enforced_spend_limit_reached',
  'linked_organization_billing_unavailable',
  'linked_organization_spend_limit_reached',
  'billing_disabled',
];
const tooLongNames = ['context_length_exceeded', 'exceed_context_size_error', 'request_too_large'];
/** Google says so with status 400. */
const keyNames = ['api_key_invalid'];
const kindByName: Readonly<Record<string, ModelErrorKind>> = {
  authentication_error: 'auth',
  permission_error: 'auth',
  invalid_api_key: 'auth',
  rate_limit_error: 'rate-limit',
  rate_limit_exceeded: 'rate-limit',
  overloaded_error: 'overloaded',
  not_found_error: 'model-not-found',
  invalid_request_error: 'bad-request',
};

/** What went wrong, by the provider's code and type first and then by the status; the words of a message say nothing. */
export function kindOf({ status, names }: Pick<Refusal, 'status' | 'names'>): ModelErrorKind {
  if (names.some((n) => quotaNames.includes(n))) return 'quota';
  if (names.some((n) => tooLongNames.includes(n))) return 'context-too-long';
  if (names.includes('model_not_found')) return 'model-not-found';
  if (names.some((n) => keyNames.includes(n))) return 'auth';
  if (status !== null) return kindOfStatus(status);
  const named = names.map((n) => kindByName[n]).find((kind) => kind !== undefined);
  if (named !== undefined) return named;
  const number = names.map(Number).find((n) => n >= 400 && n < 600);
  return number === undefined ? 'server' : kindOfStatus(number);
}

function kindOfStatus(status: number): ModelErrorKind {
  switch (status) {
    case 401:
    case 403:
      return 'auth';
    case 402:
      return 'quota';
    case 404:
      return 'model-not-found';
    case 413:
      return 'context-too-long';
    case 429:
      return 'rate-limit';
    case 498:
    case 503:
    case 529:
      return 'overloaded';
    case 408:
    case 409:
      return 'server';
    default:
      return status >= 500 ? 'server' : 'bad-request';
  }
}

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** Reads the error bodies of the protocols and of the servers that only resemble them. Google puts some into a list. */
export function refusalOf(status: number | null, body: unknown, retryAfterMs: number | null): Refusal {
  const outer = fields(Array.isArray(body) ? body[0] : body);
  const inner: Readonly<Record<string, unknown>> =
    typeof outer.error === 'string' ? { ...outer, message: outer.error } : fields(outer.error ?? outer);
  const details = (Array.isArray(inner.details) ? inner.details : []).map(fields);
  const names = [inner.code, inner.type, fields(inner.details).error_code, ...details.map((d) => d.reason)]
    .filter((name) => typeof name === 'string' || typeof name === 'number')
    .map((name) => String(name).toLowerCase());
  const message = [inner.message, outer.detail, typeof body === 'string' ? body : ''].find(
    (m) => typeof m === 'string' && m !== '',
  );
  const delayMs = details.map((d) => secondsMs(d.retryDelay)).find((ms) => ms !== null) ?? null;
  const words = typeof message === 'string' ? message : '';
  return { status, names, message: words, retryAfterMs: retryAfterMs ?? delayMs };
}

/** `34s`, `1.5s`, as Google writes a time. */
function secondsMs(text: unknown): number | null {
  const seconds = typeof text === 'string' ? /^(\d{1,9}(?:\.\d+)?)s$/.exec(text)?.[1] : undefined;
  return seconds === undefined ? null : Math.min(longestRetryAfterMs, Math.round(Number(seconds) * 1000));
}

/** Milliseconds until a provider wants to be asked again, at most an hour; null = it did not say, or not intelligibly. */
export function retryAfterMs(headers: Headers, nowMs: number): number | null {
  const exact = headers.get('retry-after-ms');
  const after = headers.get('retry-after');
  const ms =
    exact !== null && exact !== '' && Number.isFinite(Number(exact))
      ? Number(exact)
      : after === null || after === ''
        ? Number.NaN
        : Number.isFinite(Number(after))
          ? Number(after) * 1000
          : Date.parse(after) - nowMs;
  return Number.isFinite(ms) ? Math.min(longestRetryAfterMs, Math.max(0, Math.round(ms))) : null;
}
