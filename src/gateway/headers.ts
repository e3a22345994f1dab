/** Headers that are for one connection alone. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** An agent's credentials, what tells whose they are, and what the new request has its own of. */
const ofTheAgent = [
  'accept-encoding',
  'api-key',
  'authorization',
  'content-encoding',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'openai-organization',
  'openai-project',
  'via',
  'x-api-key',
  'x-goog-api-key',
  'x-goog-user-project',
];

/** What tells whose key it was, and what no longer holds of a decoded body. */
const ofTheProvider = [
  'anthropic-organization-id',
  'alt-svc',
  'content-encoding',
  'content-length',
  'openai-organization',
  'openai-project',
  'set-cookie',
  'strict-transport-security',
];

/** What of an agent's headers goes on to the provider, with the real key in place of its own. */
export function requestHeaders(from: Headers, credentials: Readonly<Record<string, string>>): Headers {
  const headers = without(from, [...ofTheAgent, ...[...from.keys()].filter((n) => n.startsWith('x-forwarded-'))]);
  for (const [name, value] of Object.entries(credentials)) headers.set(name, value);
  headers.set('content-type', 'application/json');
  headers.set('accept-encoding', 'identity');
  return headers;
}

/** What of a provider's headers goes on to the agent. */
export function responseHeaders(from: Headers): Headers {
  return without(from, ofTheProvider);
}

function without(from: Headers, names: readonly string[]): Headers {
  const headers = new Headers(from);
  // a header may name further ones that end with the connection
  const named = (from.get('connection') ?? '').split(',').map((name) => name.trim());
  for (const name of [...hopByHop, ...names, ...named]) if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) headers.delete(name);
  return headers;
}
