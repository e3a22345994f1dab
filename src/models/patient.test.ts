import { afterEach, describe, expect, test } from 'bun:test';
import type { ModelWait } from '../ports/model.ts';
import { Lane, type PatienceOptions, patient } from './index.ts';
import {
  ask,
  chatAnswer,
  chunk,
  data,
  deadUrl,
  errorOf,
  messageStart,
  modelOf,
  never,
  type Seen,
  serve,
  stream,
  type TestServer,
} from './server-fixture.ts';

let server: TestServer | null = null;
afterEach(() => server?.stop());

/** A server that gives these answers one after another, and the last one again and again. */
function ready(answers: readonly (() => Response)[], options: Partial<PatienceOptions> = {}, name = 'openai/gpt-5') {
  let n = 0;
  server = serve(() => (answers[Math.min(n++, answers.length - 1)] as () => Response)());
  return patient(modelOf({ model: name, baseUrl: server.url }), { random: () => 0, firstWaitMs: 1, ...options });
}

const status =
  (code: number, error: object = {}, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ error }, { status: code, headers });
const cut = () => stream([chunk({ content: 'half' })]);
const well = () => chatAnswer('well', { prompt_tokens: 1_000, completion_tokens: 100 });

function calling(model: ReturnType<typeof ready>, signal: AbortSignal = never) {
  const waits: ModelWait[] = [];
  return { waits, call: model.performCompletion(ask, { signal, onWait: (w) => waits.push(w) }) };
}

describe('patience', () => {
  test.each([
    ['a rate limit', status(429), 'too many requests'],
    ['an overload', status(529), 'the provider is overloaded'],
    ['a failing server', status(500), 'the server failed'],
    ['an answer that broke off', cut, 'the answer broke off'],
  ])('tries again after %s', async (_what, failing, why) => {
    const { waits, call } = calling(ready([failing, failing, well]));
    expect((await call).parts).toEqual([{ kind: 'text', text: 'well' }]);
    expect(waits).toEqual([
      { why, n: 2, of: 5, ms: 1 },
      { why, n: 3, of: 5, ms: 1 },
    ]);
  });

  test.each([
    ['a refused key', status(401), 'auth'],
    ['no credit', status(429, { code: 'insufficient_quota' }), 'quota'],
    ['no such model', status(404), 'model-not-found'],
    ['a bad request', status(400), 'bad-request'],
    ['a prompt that is too long', status(413), 'context-too-long'],
    ['a broken stream', () => stream(['data: {oops\n\n']), 'bad-reply'],
  ])('does not try again after %s', async (_what, failing, kind) => {
    const { waits, call } = calling(ready([failing, well]));
    expect((await errorOf(call)).kind).toBe(kind as 'auth');
    expect([waits, server?.requests.length]).toEqual([[], 1]);
  });

  test('ends after its tries with the last error', async () => {
    const { waits, call } = calling(ready([status(500), status(500), status(503)], { tries: 3 }));
    expect((await errorOf(call)).kind).toBe('overloaded');
    expect([waits.map((w) => w.n), server?.requests.length]).toEqual([[2, 3], 3]);
  });

  test('waits twice as long each time, within the jitter', async () => {
    const waits = async (random: number) => {
      const { waits: told, call } = calling(ready([status(500)], { random: () => random, firstWaitMs: 8 }));
      await errorOf(call);
      server?.stop();
      return told.map((w) => w.ms);
    };
    expect(await waits(0)).toEqual([4, 8, 16, 32]);
    expect(await waits(0.5)).toEqual([6, 12, 24, 48]);
  });

  test('waits as long as the provider asks', async () => {
    const { waits, call } = calling(ready([status(429, {}, { 'retry-after-ms': '23' }), well]));
    await call;
    expect(waits.map((w) => w.ms)).toEqual([23]);
  });

  test('does not wait longer than it may, and says how long the provider asks for', async () => {
    const { waits, call } = calling(ready([status(429, {}, { 'retry-after': '60' }), well], { mostWaitMs: 59_000 }));
    expect(await errorOf(call)).toMatchObject({ kind: 'rate-limit', retryAfterMs: 60_000 });
    expect(waits).toEqual([]);
    server?.stop();
    const { waits: few, call: other } = calling(ready([status(500)], { firstWaitMs: 20, mostWaitMs: 45 }));
    await errorOf(other);
    expect(few.map((w) => w.ms)).toEqual([10, 20]);
  });

  test('tries again where nothing listens', async () => {
    const model = patient(modelOf({ model: 'openai/x', baseUrl: await deadUrl() }), {
      random: () => 0,
      firstWaitMs: 1,
    });
    const { waits, call } = calling(model);
    expect(await errorOf(call)).toMatchObject({ kind: 'refused-connection', usage: { costUsd: 0, requests: 5 } });
    expect(waits).toHaveLength(4);
  });

  test('does not try a failing command again', async () => {
    const settings = { model: 'command/m', command: ['no-such-program'] as [string] };
    const { waits, call } = calling(patient(modelOf(settings), { random: () => 0 }));
    expect((await errorOf(call)).kind).toBe('command-failed');
    expect(waits).toEqual([]);
  });

  test('does not try again what will not get better by itself', async () => {
    const settings = { model: 'command/m', command: ['sleep', '60'] as [string, string], firstByteSec: 0.05 };
    const { waits, call } = calling(patient(modelOf(settings), { random: () => 0, firstWaitMs: 1 }));
    expect(await errorOf(call)).toMatchObject({ kind: 'silent', failure: { retryable: false } });
    expect(waits).toEqual([]);
  });

  test('is the model itself in all else', async () => {
    const model = modelOf({ model: 'openai/gpt-5', keyEnv: 'NO_SUCH_KEY' });
    const same = patient(model, { random: () => 0 });
    expect(same).toMatchObject({ id: model.id, takesTools: model.takesTools, hasPrice: model.hasPrice });
    expect(await same.preflight()).toEqual(await model.preflight());
  });
});

describe('what failed tries spent', () => {
  test('is nothing for those that were refused', async () => {
    const { call } = calling(ready([status(429), status(500), well]));
    expect((await call).usage).toMatchObject({
      inputTokens: 1_000,
      outputTokens: 100,
      costUsd: expect.closeTo(0.00225, 12),
      requests: 3,
    });
  });

  test('is unknown, and makes the whole unknown, for an answer that broke off', async () => {
    const { call } = calling(ready([cut, well]));
    expect((await call).usage).toEqual({ inputTokens: null, outputTokens: null, costUsd: null, requests: 2 });
  });

  test('is summed where it is known', async () => {
    const half = () => stream([messageStart({ input_tokens: 70 }), data({})]);
    const { call } = calling(ready([half], { tries: 3 }, 'anthropic/claude-opus-4-8'));
    expect((await errorOf(call)).usage).toEqual({ inputTokens: 210, outputTokens: null, costUsd: null, requests: 3 });
  });
});

describe('a cancelled call', () => {
  test('ends at once while it waits for another try', async () => {
    const cancel = new AbortController();
    const reason = new Error('enough');
    const model = ready([status(500)], { firstWaitMs: 60_000 });
    const ended = await model
      .performCompletion(ask, { signal: cancel.signal, onWait: () => queueMicrotask(() => cancel.abort(reason)) })
      .catch((e: unknown) => e);
    expect(ended).toBe(reason);
    expect(server?.requests.length).toBe(1);
  });

  test('ends at once while it waits for a place', async () => {
    const lane = new Lane(1);
    const place = await lane.enter(never);
    const cancel = new AbortController();
    const reason = new Error('enough');
    const { call } = calling(ready([well], { lane }), cancel.signal);
    const ended = call.catch((e: unknown) => e);
    cancel.abort(reason);
    expect(await ended).toBe(reason);
    place.leave();
    expect(server?.requests).toEqual([]);
  });
});

describe('calls at one endpoint', () => {
  test('are as many at once as their lane lets in, over all models', async () => {
    let running = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    server = serve(async (_seen: Seen) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => waiting.push(resolve));
      running -= 1;
      return well();
    });
    const lane = new Lane(3);
    const one = patient(modelOf({ model: 'openai/one', baseUrl: server.url }), { random: () => 0, lane });
    const two = patient(modelOf({ model: 'openai/two', baseUrl: server.url }), { random: () => 0, lane });
    const calls = Promise.all(
      [one, two, one, two, one, two, one, two].map((m) => m.performCompletion(ask, { signal: never })),
    );
    let ended = false;
    const all = calls.then(() => {
      ended = true;
    });
    while (!ended) {
      waiting.shift()?.();
      await Bun.sleep(1);
    }
    await all;
    expect([most <= 3, most > 1, server.requests.length]).toEqual([true, true, 8]);
  });

  test('are fewer after the endpoint refused', async () => {
    const lane = new Lane();
    const model = ready([status(429, {}, { 'retry-after-ms': '1' }), well], { lane });
    await calling(model).call;
    expect(lane.limit).toBe(8 / 2);
    expect(server?.requests.length).toBe(2);
  });
});
