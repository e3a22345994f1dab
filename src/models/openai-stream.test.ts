import { afterEach, describe, expect, test } from 'bun:test';
import { ask, chunk, data, done, errorOf, modelOf, never, serve, stream, type TestServer } from './server-fixture.ts';

let server: TestServer | null = null;
afterEach(() => server?.stop());

function ready(answer: () => Response) {
  server = serve(answer);
  return modelOf({ model: 'openai-compatible/qwen', baseUrl: server.url });
}
const complete = (model: ReturnType<typeof modelOf>) => model.performCompletion(ask, { signal: never });

describe('a stream', () => {
  test.each([
    ['without a reason for its end', [chunk({ content: 'half' }), done], 'cut-off'],
    ['that the server gave up', [chunk({ content: 'half' }), chunk({}, 'error'), done], 'cut-off'],
    ['cut in a line', [chunk({ content: 'half' }), 'data: {"id":"c","cho'], 'cut-off'],
    ['with no event at all', [], 'cut-off'],
    ['of broken JSON', ['data: {"oops", not json\n\n', chunk({}, 'stop'), done], 'bad-reply'],
    ['of other things', [data('text'), done], 'bad-reply'],
    ['with a failure in it', [chunk({ content: 'x' }), data({ error: { message: 'no', code: 502 } })], 'server'],
    ['with a full queue in it', [data({ error: { message: 'no', type: 'rate_limit_exceeded' } })], 'rate-limit'],
  ])('%s is an error, never a reply', async (_what, pieces, kind) => {
    const error = await errorOf(complete(ready(() => stream(pieces))));
    expect(error.kind).toBe(kind as 'cut-off');
    expect(error.usage).toEqual({ inputTokens: null, outputTokens: null, costUsd: null, requests: 1 });
  });

  test.each([
    ['a page', 'text/html', '<html>hello</html>', 'config'],
    ['an answer that is not streamed', 'application/json', '{"choices":[]}', 'environment-down'],
  ])('in place of which %s comes is told as such', async (_what, type, text, code) => {
    const model = ready(() => new Response(text, { headers: { 'content-type': type } }));
    expect(await errorOf(complete(model))).toMatchObject({ kind: 'bad-reply', failure: { code } });
  });
});
