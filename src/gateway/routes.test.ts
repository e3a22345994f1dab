import { describe, expect, test } from 'bun:test';
import { routeOf } from './routes.ts';

const route = (method: string, path: string, headers: Record<string, string> = {}, model = 'gemini-x') => {
  const { pathname, search } = new URL(`http://h${path}`);
  return routeOf(method, { pathname, search }, new Headers(headers), model);
};

describe('a request for an answer', () => {
  test.each([
    ['/v1/messages?beta=true', 'messages', '/v1/messages?beta=true'],
    ['/messages', 'messages', '/v1/messages'],
    ['/v1/v1/messages', 'messages', '/v1/messages'],
    ['/v1/chat/completions', 'chat', '/v1/chat/completions'],
    ['/chat/completions/', 'chat', '/v1/chat/completions'],
    ['//v1//chat/completions', 'chat', '/v1/chat/completions'],
    ['/v1/responses', 'responses', '/v1/responses'],
    ['/v1beta/models/other:generateContent', 'gemini', '/v1beta/models/gemini-x:generateContent'],
    [
      '/v1beta/models/other:streamGenerateContent?alt=sse&key=dummy',
      'gemini',
      '/v1beta/models/gemini-x:streamGenerateContent?alt=sse',
    ],
    ['/v1/models/other:generateContent', 'gemini', '/v1/models/gemini-x:generateContent'],
    ['/v1beta/v1beta/models/a:generateContent', 'gemini', '/v1beta/models/gemini-x:generateContent'],
    ['/models/a:generateContent?key=a', 'gemini', '/v1beta/models/gemini-x:generateContent'],
    ['/v1beta/models/tuned/x:generateContent', 'gemini', '/v1beta/models/gemini-x:generateContent'],
  ])('at %s is one of %s', (path, protocol, canonical) => {
    expect(route('POST', path)).toMatchObject({ kind: 'ask', protocol, path: canonical, isOptional: false } as object);
  });

  test('of Gemini asks for a model by its full name', () => {
    const path = (model: string) => route('POST', '/v1beta/models/a:generateContent', {}, model);
    expect(path('models/a')).toMatchObject({ path: '/v1beta/models/a:generateContent' });
    expect(path('tunedModels/b')).toMatchObject({ path: '/v1beta/tunedModels/b:generateContent' });
    expect(path('a b')).toMatchObject({ path: '/v1beta/models/a%20b:generateContent' });
  });

  test('may be for what a server need not have', () => {
    expect(route('POST', '/v1/responses/compact')).toMatchObject({ kind: 'ask', isOptional: true });
  });
});

test.each([
  ['/v1/messages/count_tokens?beta=true', 'messages', '/v1/messages/count_tokens?beta=true'],
  ['/v1/responses/input_tokens', 'responses', '/v1/responses/input_tokens'],
  ['/v1beta/models/a:countTokens?api_key=x', 'gemini', '/v1beta/models/gemini-x:countTokens'],
])('%s counts tokens', (path, protocol, canonical) => {
  expect(route('POST', path)).toEqual({ kind: 'count', protocol, path: canonical } as never);
});

test.each([
  ['/v1/models', {}, 'chat', true],
  ['/models', {}, 'chat', true],
  ['/v1/models?client_version=1', { 'anthropic-version': '2023-06-01' }, 'messages', true],
  ['/v1/models/some/name', {}, 'chat', false],
  ['/v1beta/models', {}, 'gemini', true],
  ['/v1beta/models/a', {}, 'gemini', false],
] as const)('%s %j lists models as %s does', (path, headers, protocol, isList) => {
  expect(route('GET', path, headers)).toEqual({ kind: 'models', protocol, isList });
});

test.each([
  ['GET', '/v1/responses/resp_1', 'responses'],
  ['GET', '/v1/chat/completions', 'chat'],
  ['GET', '/v1/messages', 'messages'],
  ['DELETE', '/v1/responses/resp_1', 'responses'],
  ['POST', '/v1/files', 'chat'],
  ['POST', '/v1/messages/batches', 'messages'],
  ['POST', '/v1beta/models/a:embedContent', 'gemini'],
  ['POST', '/v1beta/cachedContents', 'gemini'],
  ['POST', '/v1/models', 'chat'],
  ['GET', '/', 'chat'],
  ['POST', '/toString', 'chat'],
  ['POST', '/v1', 'chat'],
] as const)('%s %s leads nowhere, in the shape of %s', (method, path, protocol) => {
  expect(route(method, path)).toEqual({ kind: 'none', protocol });
});
