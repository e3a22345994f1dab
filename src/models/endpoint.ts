import type { ModelSettings } from '../config/model.ts';
import { fail } from '../ports/failure.ts';
import { isLoopback } from './loopback.ts';
import type { Service } from './services.ts';

/** Where a model over HTTP answers, with its key. Nothing of it but `id` and `where` may be shown. */
export type Endpoint = {
  /** `provider/model`. */
  readonly id: string;
  readonly provider: string;
  /** The model as the service names it. */
  readonly model: string;
  readonly service: Service;
  readonly settings: ModelSettings;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Model and URL for messages: no password, no query. */
  readonly where: string;
  /** The variable that holds the key; null = none is needed. */
  readonly keyEnv: string | null;
  /** Null: the variable is not set. An endpoint that needs no key has a placeholder, which some clients demand. */
  readonly key: string | null;
  /** What must never be shown. */
  readonly secrets: readonly string[];
  /** Headers that the environment adds for OpenAI: nobody else is sent them. */
  readonly foreignHeaders: readonly string[];
  readonly organization: string | null;
  readonly project: string | null;
  readonly firstByteMs: number;
  readonly betweenMs: number;
};

const firstByteMs = 120_000;
/** A server on this machine often answers one request at a time: an answer begins when those before it have ended. */
const firstByteHereMs = 600_000;
const betweenMs = 60_000;
const noKey = 'none';

/** The endpoint that the settings name. Throws `config` when its URL is missing. */
export function endpointOf(
  settings: ModelSettings,
  service: Service,
  [provider, model]: readonly [string, string],
  variables: Readonly<Record<string, string>>,
): Endpoint {
  const given = settings.baseUrl ?? service.baseUrl;
  if (given === null)
    throw fail(
      'config',
      `${settings.model} has no URL`,
      'baseUrl of the model',
      'add "baseUrl", such as "http://localhost:8000/v1"',
    );
  const url = new URL(given);
  if (url.search !== '' || url.hash !== '')
    throw fail('config', `the URL of ${settings.model} ends in a query`, 'baseUrl of the model', 'take it out');
  const keyEnv = settings.keyEnv === undefined ? service.keyEnv : settings.keyEnv;
  const key = keyEnv === null ? noKey : variables[keyEnv]?.trim() || null;
  const secrets = [keyEnv === null ? '' : (key ?? ''), url.password, decodeURIComponentSafely(url.password)];
  return {
    id: settings.model,
    provider,
    model,
    service,
    settings,
    baseUrl: trimmed(given, service),
    where: `${settings.model} at ${url.origin}${url.pathname.replace(/\/$/, '')}`,
    keyEnv,
    key,
    secrets: secrets.filter((s) => s !== ''),
    foreignHeaders: provider === 'openai' ? [] : headerNames(variables.OPENAI_CUSTOM_HEADERS ?? ''),
    organization: provider === 'openai' ? (variables.OPENAI_ORG_ID ?? null) : null,
    project: provider === 'openai' ? (variables.OPENAI_PROJECT_ID ?? null) : null,
    firstByteMs: settings.firstByteSec === undefined ? patienceMs(given) : settings.firstByteSec * 1000,
    betweenMs: settings.betweenSec === undefined ? betweenMs : settings.betweenSec * 1000,
  };
}

const patienceMs = (url: string) => (isLoopback(url) ? firstByteHereMs : firstByteMs);

/** The client of Anthropic adds `/v1` itself. */
function trimmed(url: string, service: Service): string {
  const bare = url.replace(/\/+$/, '');
  return service.protocol === 'anthropic' ? bare.replace(/\/v1$/, '') : bare;
}

const headerNames = (lines: string) =>
  lines
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => line.slice(0, line.indexOf(':')).trim());

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Why the key can't be sent, for people; null = it can. */
export function keyProblem(endpoint: Endpoint): { readonly what: string; readonly fix: string } | null {
  const { keyEnv, key } = endpoint;
  if (key === null)
    return {
      what: `the variable ${keyEnv}, which holds the key, is not set`,
      fix: `set ${keyEnv}, or name another variable with "keyEnv"`,
    };
  // a header holds visible ASCII; clients would show the key in their complaint
  return /^[\x21-\x7e]+$/.test(key)
    ? null
    : { what: `the variable ${keyEnv} holds characters that no key has`, fix: `set ${keyEnv} to the key alone` };
}

/** A text of a provider for people: one line, bounded, and without secrets. */
export function quoted(text: string, endpoint: Pick<Endpoint, 'secrets' | 'keyEnv'>): string {
  const clean = endpoint.secrets
    .reduce((t, secret) => t.replaceAll(secret, `[${endpoint.keyEnv ?? 'secret'}]`), text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a server sends may hold any character
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return clean.length > 300 ? `${clean.slice(0, 300)}…` : clean;
}
