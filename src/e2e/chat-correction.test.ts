import { afterAll, expect, test } from 'bun:test';
import { expectFailure, Place, removePlaces } from './binary.ts';
import { OwnSession } from './own-pack.ts';

afterAll(removePlaces);

const events = (...data: readonly object[]) =>
  new Response([...data.map((d) => `data: ${JSON.stringify(d)}\n\n`), 'data: [DONE]\n\n'].join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });
const answer = () =>
  events(
    { choices: [{ index: 0, delta: { content: 'No edit.' }, finish_reason: 'stop' }] },
    { choices: [], usage: {} },
  );

test('a URL where nothing but the first short question is answered pauses the session; corrected, it begins anew', async () => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) =>
      request.url.includes('/wrong/') && !(await request.text()).includes('this one word')
        ? new Response('data: nope\n\n', { headers: { 'content-type': 'text/event-stream' } })
        : answer(),
  });
  try {
    const example = 'example:short-answers';
    const at = (path: string) => {
      const model = { model: 'openai-compatible/m', baseUrl: `http://127.0.0.1:${server.port}/${path}` };
      const chat = { skill: example, pack: example, backend: 'chat', agent: undefined, splits: undefined };
      return { ...chat, model, optimizer: model, workers: 1 };
    };
    const own = new OwnSession(new Place(), { config: at('wrong/v1') });
    expectFailure(await own.run(['run', 'session']), {
      code: 4,
      what: /^no answer in 9 rollouts in a row, at 3 tasks; the last one: what came is no stream of events/,
      where: /^task /,
      fix: /start it again/,
    });
    own.configure(at('v1'));
    const end = await own.succeed(['run', 'session']);
    expect(end.stdout).toContain('nothing was measured yet, so the session begins anew: model.baseUrl (was ');
    expect(end.stdout).toMatch(/^ended {7}the optimizer gave no readable proposal three times in a row/m);
    await own.succeed(['verify', 'session']);
  } finally {
    await server.stop(true);
  }
});
