import type { Protocol } from '../ports/gateway.ts';

/** What a request below `/t/<token>` asks for. `path` is as the API has it: one version, no key in its query. */
export type Route =
  | {
      readonly kind: 'ask';
      readonly protocol: Protocol;
      readonly path: string;
      /** A part of the API that servers may well lack: that it is missing says nothing of the model. */
      readonly isOptional: boolean;
    }
  /** Counts the tokens of a request without an answer: it is free, and no request to the model. */
  | { readonly kind: 'count'; readonly protocol: Protocol; readonly path: string }
  /** The list of models, or one of them. */
  | { readonly kind: 'models'; readonly protocol: Protocol; readonly isList: boolean }
  /** Nothing that an agent needs; the rest of an API leads to what others have stored with this key. */
  | { readonly kind: 'none'; readonly protocol: Protocol };

type Fixed = { readonly kind: 'ask' | 'count'; readonly protocol: Protocol; readonly isOptional?: boolean };

const fixed: Readonly<Record<string, Fixed>> = {
  '/messages': { kind: 'ask', protocol: 'messages' },
  '/messages/count_tokens': { kind: 'count', protocol: 'messages' },
  '/chat/completions': { kind: 'ask', protocol: 'chat' },
  '/responses': { kind: 'ask', protocol: 'responses' },
  '/responses/compact': { kind: 'ask', protocol: 'responses', isOptional: true },
  '/responses/input_tokens': { kind: 'count', protocol: 'responses' },
};

/** Some clients add a version that the base URL has already, and some add none. */
const versions = /^(?:\/v1)*(?=\/|$)/;
const gemini =
  /^(?:\/v1(?:beta\d*|alpha)?)*?(?:\/(v1(?:beta\d*|alpha)?))?\/models\/[^:]+:(generateContent|streamGenerateContent|countTokens)$/;

/** `model` = as the upstream names it: paths of Gemini ask for this one. `pathname` begins behind the token. */
export function routeOf(
  method: string,
  { pathname, search }: { readonly pathname: string; readonly search: string },
  headers: Headers,
  model: string,
): Route {
  const path = pathname.replace(/\/{2,}/g, '/').replace(/\/$/, '');
  const rest = path.replace(versions, '');
  const query = withoutKeys(search);
  if (method === 'POST') {
    const known = Object.hasOwn(fixed, rest) ? fixed[rest] : undefined;
    if (known !== undefined) {
      const { kind, protocol, isOptional = false } = known;
      return kind === 'ask'
        ? { kind, protocol, path: `/v1${rest}${query}`, isOptional }
        : { kind, protocol, path: `/v1${rest}${query}` };
    }
    const [whole, version = 'v1beta', verb] = gemini.exec(path) ?? [];
    if (whole !== undefined) {
      const asked = { protocol: 'gemini', path: `/${version}/${resource(model)}:${verb}${query}` } as const;
      return verb === 'countTokens' ? { kind: 'count', ...asked } : { kind: 'ask', ...asked, isOptional: false };
    }
  }
  const protocol = likelyApi(path, headers);
  if (method !== 'GET' && method !== 'HEAD') return { kind: 'none', protocol };
  const list = /^(?:\/v1(?:beta\d*|alpha)?)*\/models(\/[^:]+)?$/.exec(path);
  return list === null ? { kind: 'none', protocol } : { kind: 'models', protocol, isList: list[1] === undefined };
}

/** Whose shape an answer should have that no API gives. */
function likelyApi(path: string, headers: Headers): Protocol {
  if (/\/v1(beta|alpha)|:\w+$/.test(path) || headers.has('x-goog-api-key')) return 'gemini';
  if (/\/messages/.test(path) || headers.has('anthropic-version')) return 'messages';
  return /\/responses/.test(path) ? 'responses' : 'chat';
}

/** A model of Gemini by its full name. */
export function resource(model: string): string {
  return encodeURI(/^\w*[mM]odels\//.test(model) ? model : `models/${model}`);
}

/** Names of parameters that carry a key in place of a header. */
const keys = /^(key|api[-_]?key|access_token)$/i;

function withoutKeys(search: string): string {
  const kept = search
    .slice(1)
    .split('&')
    .filter((part) => part !== '' && !keys.test(part.split('=')[0] ?? ''));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}
