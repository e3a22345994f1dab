import { afterEach, describe, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { Lane } from '../models/index.ts';
import { deadUrl, openStream, rawChunk, rawHead, type Seen, serveRaw } from '../models/server-fixture.ts';
import { type GatewayLease, protocols } from '../ports/gateway.ts';
import { waitUntil } from '../process/wait.ts';
import { data, events, whole } from './answers-fixture.ts';
import { type Bench, type BenchOptions, bench, key, messageOf, post, wellAnswer } from './gateway-fixture.ts';

const open: { stop(): unknown }[] = [];
const started = (answer?: Parameters<typeof bench>[0], options?: BenchOptions): Bench => {
  const made = bench(answer, options);
  open.push(made);
  return made;
};
afterEach(async () => {
  for (const b of open.splice(0)) await b.stop();
});
const until = async (condition: () => boolean) => expect(await waitUntil(condition, 10_000)).toBe(true);

type Answer = (seen: Seen, left: { count: number }) => Response;
const status =
  (code: number, error: object = {}, headers: Record<string, string> = {}): Answer =>
  () =>
    Response.json({ error: { message: 'words', ...error } }, { status: code, headers });
const sse = (...pieces: string[]) =>
  new Response(pieces.join(''), { headers: { 'content-type': 'text/event-stream' } });
/** These answers one after another, then good ones. */
const inOrder = (...answers: Answer[]): Answer => {
  let n = 0;
  return (seen, left) => (answers[n++] ?? ((s) => wellAnswer(s)))(seen, left);
};
const end = async (lease: GatewayLease) => {
  await lease.close();
  return lease.report();
};

describe.each(protocols)('%s', (protocol) => {
  test.each([false, true])('is asked for again while nothing has reached the agent (in events: %p)', async (stream) => {
    const b = started(
      inOrder(
        status(429, {}, { 'retry-after-ms': '2' }),
        status(529),
        () => (stream ? sse('') : new Response('')),
        () => sse(data({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } })),
      ),
    );
    const lease = b.lease();
    const waited: [number, string][] = [];
    lease.onWait((ms, why) => waited.push([ms, why]));
    const response = await post(b.gateway, lease, protocol, { stream });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(stream ? events(protocol).join('') : JSON.stringify(whole(protocol)));
    expect(b.waits.map(({ why, n, of }) => [why, n, of])).toEqual([
      ['too many requests', 2, 5],
      ['the provider is overloaded', 3, 5],
      ['the answer broke off', 4, 5],
      ['the provider is overloaded', 5, 5],
    ]);
    expect(b.waits[0]?.ms).toBe(2);
    const report = await end(lease);
    // what broke off may have been paid
    expect(report).toMatchObject({ usage: { requests: 5, inputTokens: null, costUsd: null }, stop: null });
    expect(report.waitedMs).toBeGreaterThan(2);
    expect(waited.reduce((sum, [ms]) => sum + ms, 0)).toBeCloseTo(report.waitedMs, 6);
    expect(b.exchange().map((line) => [line.request, line.attempt, line.trouble])).toEqual([
      [1, 1, 'rate-limit'],
      [1, 2, 'overloaded'],
      [1, 3, 'cut-off'],
      [1, 4, 'overloaded'],
      [1, 5, null],
    ]);
  });

  test('ends the rollout when patience is over, and the agent sees the last refusal', async () => {
    const b = started(status(503, { message: 'come back later' }), { patience: { tries: 3 } });
    const lease = b.lease();
    const response = await post(b.gateway, lease, protocol);
    expect([response.status, await messageOf(response)]).toEqual([503, 'come back later']);
    expect(lease.stopped.aborted).toBe(true);
    const again = await post(b.gateway, lease, protocol);
    expect([again.status, again.headers.get('x-should-retry')]).toEqual([400, 'false']);
    expect(await messageOf(again)).toBe(
      'skillopt: the provider refused before: the provider is overloaded (503): come back later',
    );
    expect(b.provider.requests).toHaveLength(3);
    expect(await end(lease)).toMatchObject({
      usage: { requests: 3, inputTokens: 0, outputTokens: 0, costUsd: 0 },
      stop: { kind: 'provider', refusal: { kind: 'overloaded' } },
    });
  });

  test.each([
    [401, {}, 'auth'],
    [403, {}, 'auth'],
    [402, {}, 'quota'],
    [429, { code: 'insufficient_quota' }, 'quota'],
    [404, {}, 'model-not-found'],
  ] as const)('ends the rollout at once with %d %j', async (code, error, kind) => {
    const b = started(status(code, { ...error, message: `about ${key.slice(0, 12)}…` }));
    const lease = b.lease();
    const response = await post(b.gateway, lease, protocol, { stream: true });
    expect(response.status).toBe(code);
    const text = await response.text();
    // a refused key may be quoted in part
    expect(text.includes(key.slice(0, 12))).toBe(kind !== 'auth');
    expect([lease.stopped.aborted, b.provider.requests.length, b.waits]).toEqual([true, 1, []]);
    expect((await end(lease)).stop).toMatchObject({ kind: 'provider', refusal: { kind } });
  });

  test('that is a mistake of the agent goes back to it, and stands unless an answer follows', async () => {
    const b = started(inOrder(status(400), status(413)));
    const lease = b.lease();
    expect((await post(b.gateway, lease, protocol)).status).toBe(400);
    expect(lease.report().stop).toMatchObject({ kind: 'provider', refusal: { kind: 'bad-request' } });
    expect((await post(b.gateway, lease, protocol)).status).toBe(413);
    expect(lease.report().stop).toMatchObject({ refusal: { kind: 'context-too-long' } });
    expect(lease.stopped.aborted).toBe(false);
    await (await post(b.gateway, lease, protocol)).text();
    expect(await end(lease)).toMatchObject({ usage: { requests: 3, inputTokens: expect.any(Number) }, stop: null });
  });

  /** A provider whose answers with these numbers wait behind their first event until they are broken off. */
  async function breaking(numbers: readonly number[]) {
    const sockets: Socket[] = [];
    let n = 0;
    const [first = '', ...more] = events(protocol);
    const server = await serveRaw((socket) => {
      n += 1;
      socket.write(rawHead + rawChunk(first));
      if (numbers.includes(n)) sockets.push(socket);
      else socket.end(`${rawChunk(more.join(''))}0\r\n\r\n`);
    });
    open.push(server);
    const b = started(undefined, { baseUrl: server.url });
    const breakOff = () => {
      for (const socket of sockets.splice(0)) socket.destroy();
    };
    /** Asks once, or several times at once; what the agents have of their first event is no longer held. */
    const say = async (lease: GatewayLease, times = 1) => {
      const readers = await Promise.all(
        Array.from({ length: times }, async () => {
          const response = await post(b.gateway, lease, protocol, { stream: true });
          const reader = response.body?.getReader();
          const piece = await reader?.read();
          return { reader, text: new TextDecoder().decode(piece?.value) };
        }),
      );
      breakOff();
      return Promise.all(
        readers.map(async ({ reader, text }) => {
          let all = text;
          try {
            for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
              all += new TextDecoder().decode(next.value);
            return all;
          } catch (error) {
            return (error as { readonly code?: unknown }).code;
          }
        }),
      );
    };
    return { b, say };
  }

  test('that breaks off behind its first byte breaks off for the agent', async () => {
    const { b, say } = await breaking([1]);
    const lease = b.lease();
    expect(await say(lease)).toEqual(['ECONNRESET']);
    const report = await end(lease);
    expect(report.usage).toMatchObject({ outputTokens: null, costUsd: null, requests: 1 });
    expect(report.stop).toMatchObject({ kind: 'provider', refusal: { kind: 'cut-off' } });
    expect([lease.stopped.aborted, b.waits]).toEqual([false, []]);
  });

  test('that breaks off again and again ends the rollout, not where it did so at once', async () => {
    const { b, say } = await breaking([1, 2, 3, 4, 5, 7, 8, 9]);
    const cut = 'ECONNRESET';
    const lease = b.lease();
    expect(await say(lease, 3)).toEqual([cut, cut, cut]);
    expect([await say(lease), lease.stopped.aborted]).toEqual([[cut], false]);
    expect([await say(lease), lease.stopped.aborted]).toEqual([[cut], true]);
    expect(lease.report().stop).toMatchObject({ refusal: { kind: 'cut-off' } });
    const other = b.lease();
    const answers = [await say(other), await say(other), await say(other)];
    expect([answers, other.stopped.aborted]).toEqual([[[events(protocol).join('')], [cut], [cut]], false]);
    expect([await say(other), other.stopped.aborted]).toEqual([[cut], true]);
  });

  test('in one piece that breaks off is asked for again', async () => {
    let n = 0;
    const body = JSON.stringify(whole(protocol));
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n';
    const server = await serveRaw((socket) => {
      const text = n++ === 0 ? body.slice(0, 20) : body;
      socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${text}`);
      if (n === 1) setTimeout(() => socket.destroy(), 20);
    });
    open.push(server);
    const b = started(undefined, { baseUrl: server.url });
    const response = await post(b.gateway, b.lease(), protocol);
    expect([await response.text(), b.waits.map((w) => w.why)]).toEqual([body, ['the answer broke off']]);
  });

  test('of a server that is not there ends the rollout, and cost nothing', async () => {
    const b = started(undefined, { baseUrl: await deadUrl(), patience: { tries: 2 } });
    const lease = b.lease();
    const response = await post(b.gateway, lease, protocol);
    expect([response.status, await messageOf(response)]).toEqual([502, expect.stringMatching(/^no connection/)]);
    expect(await end(lease)).toMatchObject({
      usage: { requests: 0, inputTokens: 0, costUsd: 0 },
      stop: { kind: 'provider', refusal: { kind: 'refused-connection' } },
    });
    expect(b.waits.map((w) => w.why)).toEqual(['no connection']);
  });

  test('of a server that says nothing is left after its time', async () => {
    const b = started((_seen, left) => openStream([], left), {
      settings: { firstByteSec: 0.05 },
      patience: { tries: 2 },
    });
    const lease = b.lease();
    const response = await post(b.gateway, lease, protocol, { stream: true });
    expect([response.status, await messageOf(response)]).toEqual([
      502,
      expect.stringMatching(/^no byte of an answer came for 0.05 s/),
    ]);
    await until(() => b.provider.left.count === 2);
    expect(await end(lease)).toMatchObject({
      usage: { requests: 2, inputTokens: null },
      stop: { kind: 'provider', refusal: { kind: 'silent' } },
    });
  });

  test('of a server that says nothing until the rollout’s time is over is the server’s doing', async () => {
    let asked = 0;
    const b = started((_seen, left) => {
      asked += 1;
      return openStream([], left);
    });
    for (const silentMs of [20, 60_000]) {
      const lease = b.lease({ silentMs });
      const before = asked;
      const answer = post(b.gateway, lease, protocol).catch(() => null);
      await until(() => asked > before);
      const sinceMs = performance.now();
      await until(() => performance.now() > sinceMs + 40);
      await lease.close();
      await answer;
      const { stop } = lease.report();
      if (silentMs > 40) expect(stop).toBeNull();
      else
        expect(stop).toMatchObject({
          refusal: {
            kind: 'silent',
            failure: { what: expect.stringMatching(/^no byte of an answer came for [\d.]+ s$/) },
          },
        });
    }
  });

  test('that stands still is broken off', async () => {
    const b = started((_seen, left) => openStream([events(protocol)[0] ?? ''], left), {
      settings: { betweenSec: 0.05 },
    });
    const lease = b.lease();
    const response = await post(b.gateway, lease, protocol, { stream: true });
    expect(await response.text().catch(() => 'cut')).toBe('cut');
    await until(() => b.provider.left.count === 1);
    expect((await end(lease)).stop).toMatchObject({
      refusal: { kind: 'silent', failure: { what: 'the answer stood still for 0.05 s' } },
    });
  });
});

describe('a failure inside an answer', () => {
  /** Sends the second piece when the agent has the first. */
  async function failing(protocol: 'messages' | 'chat', error: object) {
    const gate = Promise.withResolvers<void>();
    const [first = ''] = events(protocol);
    const pieces = [first, data({ type: 'error', error })];
    const answer: Answer = () => {
      const body = new ReadableStream({
        start: async (controller) => {
          controller.enqueue(new TextEncoder().encode(pieces[0]));
          await gate.promise;
          controller.enqueue(new TextEncoder().encode(pieces[1]));
          controller.close();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const b = started(inOrder(answer));
    const lease = b.lease();
    const reader = (await post(b.gateway, lease, protocol, { stream: true })).body?.getReader();
    let text = '';
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      text += new TextDecoder().decode(next.value);
      gate.resolve();
    }
    return { b, lease, got: text, sent: pieces.join('') };
  }

  test('passes as it came, and stands unless an answer follows', async () => {
    const { b, lease, got, sent } = await failing('messages', { type: 'overloaded_error' });
    expect(got).toBe(sent);
    expect(lease.report()).toMatchObject({
      stop: { refusal: { kind: 'overloaded' } },
      usage: { inputTokens: 140, outputTokens: null },
    });
    expect([lease.stopped.aborted, b.waits]).toEqual([false, []]);
    await (await post(b.gateway, lease, 'messages', { stream: true })).text();
    expect((await end(lease)).stop).toBeNull();
  });

  test('of a key ends the rollout', async () => {
    const { lease, got, sent } = await failing('chat', { code: 'insufficient_quota' });
    expect(got).toBe(sent);
    expect(lease.stopped.aborted).toBe(true);
    expect((await end(lease)).stop).toMatchObject({ refusal: { kind: 'quota' } });
  });

  test('broken JSON is handed on as it is', async () => {
    const b = started(() => sse('data: {"type":"oops", not json\n\n'));
    const lease = b.lease();
    expect(await (await post(b.gateway, lease, 'messages', { stream: true })).text()).toContain('oops');
    const { stop } = await end(lease);
    expect([stop, lease.stopped.aborted, b.waits]).toMatchObject([{ refusal: { kind: 'bad-reply' } }, false, []]);
  });
});

describe('patience', () => {
  test('does not wait longer than it has', async () => {
    const b = started(status(429, {}, { 'retry-after': '60' }), { patience: { mostWaitMs: 1_000 } });
    const lease = b.lease();
    expect((await post(b.gateway, lease, 'chat')).status).toBe(429);
    expect([lease.stopped.aborted, b.waits, b.provider.requests.length]).toEqual([true, [], 1]);
  });

  test('does not follow to another server', async () => {
    const b = started(() => new Response('', { status: 307, headers: { location: '/elsewhere' } }));
    const lease = b.lease();
    const response = await post(b.gateway, lease, 'chat');
    expect([response.status, await messageOf(response)]).toEqual([
      400,
      expect.stringMatching(/^the server sends elsewhere \(307\)/),
    ]);
    expect([lease.stopped.aborted, b.provider.requests.length]).toEqual([true, 1]);
  });

  test('of the agent may be shorter: what it waited for stands', async () => {
    const b = started(status(429, {}, { 'retry-after': '30' }));
    const lease = b.lease();
    const leave = new AbortController();
    const asked = post(b.gateway, lease, 'chat', { signal: leave.signal }).catch(() => 'left');
    await until(() => b.waits.length === 1);
    leave.abort();
    expect(await asked).toBe('left' as never);
    await until(() => lease.report().stop !== null);
    expect(await end(lease)).toMatchObject({
      stop: { refusal: { kind: 'rate-limit' } },
      usage: { requests: 1, inputTokens: 0 },
    });
  });

  test('keeps a server that refuses what it does not know in mind', async () => {
    const minds: Answer = (seen) =>
      seen.body.stream_options === undefined ? wellAnswer(seen) : Response.json({ detail: 'extra' }, { status: 422 });
    const b = started(minds);
    const lease = b.lease();
    for (let i = 0; i < 2; i++)
      expect(await (await post(b.gateway, lease, 'chat', { stream: true })).text()).toBe(events('chat').join(''));
    expect(b.provider.requests.map((r) => r.body.stream_options)).toEqual([
      { include_usage: true },
      undefined,
      undefined,
    ]);
    expect(await end(lease)).toMatchObject({ usage: { requests: 3, outputTokens: 40 }, stop: null });
    expect(b.waits).toEqual([]);
  });

  test('tries a refused request without the wish once, and keeps the wish where another refusal follows', async () => {
    const b = started(inOrder(status(400), status(400)));
    const lease = b.lease();
    expect((await post(b.gateway, lease, 'chat', { stream: true })).status).toBe(400);
    await (await post(b.gateway, lease, 'chat', { stream: true })).text();
    expect(b.provider.requests.map((r) => r.body.stream_options !== undefined)).toEqual([true, false, true]);
  });
});

describe('a refusal that an answer follows', () => {
  test('is forgotten only by one that came after it, and work not by what is asked beside it', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const b = started(async (seen) => {
      const text = JSON.stringify(seen.body);
      if (text.includes('refuse me')) return status(400)(seen, { count: 0 });
      if (text.includes('slow')) await held;
      return wellAnswer(seen);
    });
    const lease = b.lease();
    const slow = post(b.gateway, lease, 'messages', { texts: ['slow'] });
    await until(() => b.provider.requests.length === 1);
    await post(b.gateway, lease, 'messages', { texts: ['refuse me'] });
    release();
    await (await slow).text();
    expect(lease.report().stop).not.toBeNull();
    await (await post(b.gateway, lease, 'messages', { tools: false })).text();
    expect(lease.report().stop).not.toBeNull();
    await (await post(b.gateway, lease, 'messages')).text();
    expect(lease.report().stop).toBeNull();
    await post(b.gateway, lease, 'messages', { texts: ['refuse me'], tools: false });
    expect(lease.report().stop).not.toBeNull();
    await (await post(b.gateway, lease, 'messages')).text();
    expect((await end(lease)).stop).toBeNull();
  });
});

describe('the lane', () => {
  test('keeps requests of all rollouts in bounds, and their waiting is told', async () => {
    let running = 0;
    let most = 0;
    const b = started(
      async (seen) => {
        running += 1;
        most = Math.max(most, running);
        await Bun.sleep(5);
        running -= 1;
        return wellAnswer(seen);
      },
      { lane: new Lane(2) },
    );
    const leases = Array.from({ length: 6 }, () => b.lease());
    await Promise.all(leases.map(async (lease) => (await post(b.gateway, lease, 'chat')).text()));
    expect(most).toBe(2);
    const reports = await Promise.all(leases.map(end));
    expect(reports.filter((r) => r.waitedMs > 3).length).toBeGreaterThanOrEqual(4);
  });

  test('gives every place back', async () => {
    const lane = new Lane(1);
    const b = started(
      inOrder(
        status(400),
        status(401),
        () => sse(''),
        (_seen, left) => openStream([events('messages')[0] ?? ''], left),
        (_seen, left) => openStream([], left),
      ),
      { lane, patience: { tries: 1 } },
    );
    for (let i = 0; i < 5; i++) {
      const lease = b.lease();
      const leave = new AbortController();
      const response = post(b.gateway, lease, 'messages', { stream: true, signal: leave.signal });
      await until(() => b.provider.requests.length === i + 1);
      if (i === 3) await (await response).body?.getReader().read();
      if (i >= 3) {
        leave.abort();
        await response.catch(() => null);
      } else await (await response).text();
      await lease.close();
    }
    const place = await lane.enter(AbortSignal.timeout(5_000));
    place.leave();
  });
});
