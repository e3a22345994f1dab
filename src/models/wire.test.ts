import { afterEach, describe, expect, test } from 'bun:test';
import { getEventListeners } from 'node:events';
import {
  ask,
  chatAnswer,
  chunk,
  deadUrl,
  done,
  errorOf,
  messageStart,
  modelOf,
  never,
  openStream,
  rawChunk,
  rawHead,
  serve,
  serveRaw,
  stream,
  textBlock,
} from './server-fixture.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});
const started = <T extends { stop(): void }>(server: T): T => {
  stops.push(server.stop);
  return server;
};

const first = { openai: chunk({ content: 'half' }), anthropic: messageStart() + textBlock('half') } as const;
const protocols = ['openai', 'anthropic'] as const;
const unknown = { costUsd: null, outputTokens: null, requests: 1 };

describe.each(protocols)('%s', (protocol) => {
  const modelAt = (baseUrl: string, more: object = {}) => modelOf({ model: `${protocol}/x`, baseUrl, ...more });
  const call = (baseUrl: string, more: object = {}) => modelAt(baseUrl, more).performCompletion(ask, { signal: never });

  test('a server that says nothing is left after its deadline', async () => {
    const silent = started(await serveRaw(() => undefined));
    const error = await errorOf(call(silent.url, { firstByteSec: 0.05 }));
    expect(error).toMatchObject({
      kind: 'silent',
      usage: unknown,
      failure: { what: 'no byte of an answer came for 0.05 s' },
    });
    expect(error.failure.fix).toContain('firstByteSec');
  });

  test('headers alone are no first byte', async () => {
    const silent = started(await serveRaw((socket) => socket.write(rawHead)));
    expect(await errorOf(call(silent.url, { firstByteSec: 0.05 }))).toMatchObject({ kind: 'silent' });
  });

  test('an answer that stands still is left after its deadline', async () => {
    const server = started(serve((_seen, left) => openStream([first[protocol]], left)));
    const error = await errorOf(call(server.url, { betweenSec: 0.05 }));
    expect(error).toMatchObject({ kind: 'silent', usage: unknown });
    expect(error.failure.fix).toContain('betweenSec');
  });

  test('where nothing listens the connection is refused, and nothing was spent', async () => {
    const error = await errorOf(call(await deadUrl()));
    expect(error).toMatchObject({
      kind: 'refused-connection',
      usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
      failure: { code: 'environment-down', retryable: true },
    });
  });

  test('a host that there is not is a refused connection', async () => {
    expect((await errorOf(call('http://no-such-host.invalid/v1'))).kind).toBe('refused-connection');
  });

  test('a connection that is closed without an answer is cut off, and its spend unknown', async () => {
    const server = started(await serveRaw((socket) => void socket.destroy()));
    expect(await errorOf(call(server.url))).toMatchObject({ kind: 'cut-off', usage: unknown });
  });

  test('a connection that breaks in the answer is cut off', async () => {
    const server = started(
      await serveRaw((socket) => socket.write(rawHead + rawChunk(first[protocol]), () => socket.destroy())),
    );
    expect(await errorOf(call(server.url))).toMatchObject({ kind: 'cut-off', usage: unknown });
  });

  test('a call that is cancelled before its start sends nothing', async () => {
    const server = started(serve(() => chatAnswer()));
    const reason = new Error('enough');
    const ended = await modelAt(server.url)
      .performCompletion(ask, { signal: AbortSignal.abort(reason) })
      .catch((e: unknown) => e);
    expect(ended).toBe(reason);
    expect(server.requests).toEqual([]);
  });

  test.each(['before its first byte', 'in the middle'])('a call that is cancelled %s ends at once', async (when) => {
    const cancel = new AbortController();
    const reason = new Error('enough');
    const early = when === 'before its first byte';
    const server = started(
      serve((_seen, left) => {
        if (early) queueMicrotask(() => cancel.abort(reason));
        return openStream(early ? [] : [first[protocol]], left);
      }),
    );
    const pieces: string[] = [];
    const onText = (piece: string) => {
      pieces.push(piece);
      cancel.abort(reason);
    };
    const ended = await modelAt(server.url)
      .performCompletion(ask, { signal: cancel.signal, onText })
      .catch((e: unknown) => e);
    expect(ended).toBe(reason);
    expect(pieces).toEqual(early ? [] : ['half']);
    // the connection is closed: the server hears of it
    while (server.left.count === 0) await Bun.sleep(1);
  });
});

test('who has cancelled hears no piece more, though it is there already', async () => {
  const server = started(
    serve(() => stream([chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'stop'), done])),
  );
  const cancel = new AbortController();
  const pieces: string[] = [];
  const onText = (piece: string) => {
    pieces.push(piece);
    cancel.abort(new Error('enough'));
  };
  const model = modelOf({ model: 'openai/x', baseUrl: server.url });
  const ended = await model.performCompletion(ask, { signal: cancel.signal, onText }).catch((e: unknown) => e);
  expect(ended).toBe(cancel.signal.reason);
  expect(pieces).toEqual(['a']);
});

test('a call leaves no listener behind, however it ends', async () => {
  const { signal } = new AbortController();
  const server = started(serve(() => chatAnswer()));
  await modelOf({ model: 'openai/x', baseUrl: server.url }).performCompletion(ask, { signal });
  await errorOf(modelOf({ model: 'openai/x', baseUrl: await deadUrl() }).performCompletion(ask, { signal }));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a sign of life that is no event keeps a slow server', async () => {
  const server = started(
    serve(() => {
      let n = 0;
      const body = new ReadableStream({
        pull: async (controller) => {
          await Bun.sleep(150);
          n += 1;
          controller.enqueue(new TextEncoder().encode(n < 8 ? ': still here\n\n' : chunk({ content: 'x' }, 'stop')));
          if (n === 8) controller.close();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    }),
  );
  const model = modelOf({ model: 'openai/x', baseUrl: server.url, firstByteSec: 1, betweenSec: 1 });
  expect((await model.performCompletion(ask, { signal: never })).parts).toHaveLength(1);
});

test('a server that is reached by a wrong scheme is told by the connection', async () => {
  const server = started(serve(() => chatAnswer()));
  const model = modelOf({ model: 'openai/x', baseUrl: server.url.replace('http:', 'https:') });
  const error = await errorOf(model.performCompletion(ask, { signal: never }));
  expect(['cut-off', 'refused-connection']).toContain(error.kind);
});
