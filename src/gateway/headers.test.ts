import { expect, test } from 'bun:test';
import { requestHeaders, responseHeaders } from './headers.ts';

test('a request keeps what is for the provider, and has the real key in place of its own', () => {
  const agent = new Headers({
    authorization: 'Bearer dummy',
    'x-api-key': 'dummy',
    'x-goog-api-key': 'dummy',
    'api-key': 'dummy',
    cookie: 'a=b',
    host: '127.0.0.1:8787',
    connection: 'keep-alive, x-private',
    'x-private': '1',
    'keep-alive': 'timeout=5',
    te: 'trailers',
    'transfer-encoding': 'chunked',
    'content-length': '7',
    'content-encoding': 'zstd',
    'accept-encoding': 'gzip, br',
    'x-forwarded-for': '10.0.0.1',
    'openai-organization': 'org-dummy',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'x',
    'user-agent': 'agent/1',
    accept: 'text/event-stream',
  });
  expect(Object.fromEntries(requestHeaders(agent, { 'x-api-key': 'real' }))).toEqual({
    'x-api-key': 'real',
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'x',
    'user-agent': 'agent/1',
    accept: 'text/event-stream',
  });
});

test('an answer keeps what is for the agent, and does not tell whose key it was', () => {
  const provider = new Headers({
    'content-type': 'text/event-stream',
    'content-encoding': 'gzip',
    'content-length': '7',
    connection: 'close',
    'set-cookie': 'a=b',
    'openai-organization': 'org-1',
    'anthropic-organization-id': 'o',
    'retry-after': '1',
    'request-id': 'r',
  });
  expect(Object.fromEntries(responseHeaders(provider))).toEqual({
    'content-type': 'text/event-stream',
    'retry-after': '1',
    'request-id': 'r',
  });
});
