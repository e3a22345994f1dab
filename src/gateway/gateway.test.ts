import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { Lane } from '../models/index.ts';
import { openStream } from '../models/server-fixture.ts';
import { SkilloptError } from '../ports/failure.ts';
import { protocols } from '../ports/gateway.ts';
import { waitUntil } from '../process/wait.ts';
import { ask, counts, events, pathOf, whole } from './answers-fixture.ts';
import { createGateway } from './gateway.ts';
import { type Bench, type BenchOptions, bench, key, messageOf, post, wellAnswer } from './gateway-fixture.ts';

const open: Bench[] = [];
const started = (answer?: Parameters<typeof bench>[0], options?: BenchOptions): Bench => {
  const made = bench(answer, options);
  open.push(made);
  return made;
};
afterEach(async () => {
  for (const b of open.splice(0)) await b.stop();
});
const until = async (condition: () => boolean) => expect(await waitUntil(condition, 10_000)).toBe(true);

describe.each(protocols)('%s through the gateway', (protocol) => {
  test.each([false, true])('comes as the provider sent it (in events: %p)', async (stream) => {
    const b = started();
    const lease = b.lease();
    const response = await post(b.gateway, lease, protocol, { stream });
    const expected = stream ? events(protocol).join('') : JSON.stringify(whole(protocol));
    expect([response.status, await response.text()]).toEqual([200, expected]);
    const [seen] = b.provider.requests;
    const { model: _model, stream_options: _options, ...rest } = seen?.body ?? {};
    const { model: _own, ...asked } = ask(protocol, ['do it'], { stream }) as Record<string, unknown>;
    expect(rest).toEqual(asked);
    if (protocol === 'gemini') expect(seen?.path).toContain('/models/real:');
    else expect(seen?.body.model).toBe('real');
    await lease.close();
    const costUsd = ((counts[protocol].inputTokens ?? 0) + 200) / 1_000_000;
    expect(lease.report()).toEqual({
      usage: { inputTokens: counts[protocol].inputTokens, outputTokens: 20, costUsd, requests: 1 },
      visible: null,
      read: null,
      stop: null,
      waitedMs: expect.any(Number),
    });
  });

  test('has the real key outside, and never inside', async () => {
    const b = started((seen) => {
      expect([...seen.headers.values()].join()).toContain(key);
      expect([...seen.headers.values()].join()).not.toContain('dummy');
      return Response.json({ error: { message: `no: ${key}` } }, { status: 422, headers: { 'set-cookie': 'a=b' } });
    });
    const lease = b.lease();
    const response = await post(b.gateway, lease, protocol, {
      headers: { 'x-api-key': 'dummy', 'x-goog-api-key': 'dummy', cookie: 'dummy', 'anthropic-version': 'v' },
      path: `${pathOf(protocol)}?key=dummy`,
    });
    expect(await response.text()).toContain('no: [key]');
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(b.provider.requests[0]?.headers.get('anthropic-version')).toBe('v');
    await lease.close();
    expect(JSON.stringify([lease.report(), b.exchange()])).not.toContain(key);
  });

  test('without a lease, behind its end and for what is not here has an answer that says so', async () => {
    const b = started();
    const lease = b.lease();
    const other = await fetch(`${b.gateway.origin}/t/0123${pathOf(protocol)}`, { method: 'POST', body: '{}' });
    expect([other.status, await other.text()]).toEqual([404, 'There is no such rollout here.\n']);
    const nowhere = await fetch(`${b.gateway.origin}${lease.path}${pathOf(protocol)}x`, { method: 'DELETE' });
    expect([nowhere.status, await messageOf(nowhere)]).toEqual([
      404,
      expect.stringMatching(/^skillopt: there is no DELETE/),
    ]);
    await lease.close();
    expect((await post(b.gateway, lease, protocol)).status).toBe(404);
    expect(b.provider.requests).toEqual([]);
  });

  test('that the model does not speak is told, and stands in the report', async () => {
    const others = protocols.filter((p) => p !== protocol);
    const b = started(undefined, { settings: { protocols: others } });
    const lease = b.lease();
    const response = await post(b.gateway, lease, protocol);
    expect(response.status).toBe(404);
    expect(await messageOf(response)).toContain('openai-compatible/real does not speak: it speaks');
    expect(lease.report()).toMatchObject({
      usage: { requests: 0 },
      stop: { kind: 'provider', refusal: { kind: 'bad-request', failure: { code: 'config' } } },
    });
    expect(lease.stopped.aborted).toBe(false);
    expect(b.provider.requests).toEqual([]);
  });

  test('may be compressed on the way in, and is read all the same', async () => {
    const b = started();
    const lease = b.lease();
    const text = JSON.stringify(ask(protocol, ['do it']));
    for (const [encoding, body] of [
      ['gzip', gzipSync(text)],
      ['zstd', zstdCompressSync(text)],
    ] as const)
      expect((await post(b.gateway, lease, protocol, { body, headers: { 'content-encoding': encoding } })).status).toBe(
        200,
      );
    expect(b.provider.requests.map((r) => r.headers.get('content-encoding'))).toEqual([null, null]);
    const bad = await post(b.gateway, lease, protocol, { body: Buffer.from('{') });
    expect([bad.status, await messageOf(bad)]).toEqual([400, 'skillopt: the body is no JSON object']);
  });

  test('that the provider compresses all the same is decoded', async () => {
    const b = started((seen) => {
      expect(seen.headers.get('accept-encoding')).toBe('identity');
      const body = gzipSync(events(protocol).join(''));
      return new Response(body, { headers: { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' } });
    });
    const lease = b.lease();
    const response = await post(b.gateway, lease, protocol, { stream: true });
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(await response.text()).toBe(events(protocol).join(''));
    await lease.close();
    expect(lease.report().usage.outputTokens).toBe(20);
  });
});

describe('a lease', () => {
  test('has a token that nobody guesses, and lists the one model', async () => {
    const b = started();
    const [one, other] = [b.lease(), b.lease()];
    expect(one.path).toMatch(/^\/t\/[0-9a-f]{32}$/);
    expect(other.path).not.toBe(one.path);
    const list = await (await fetch(`${b.gateway.origin}${one.path}/v1/models`)).json();
    expect(list).toMatchObject({ data: [{ id: 'real' }] });
    const gemini = await (await fetch(`${b.gateway.origin}${one.path}/v1beta/models/any`)).json();
    expect(gemini).toMatchObject({ name: 'models/real' });
    expect(b.provider.requests).toEqual([]);
  });

  test('takes no websockets', async () => {
    const b = started();
    const response = await fetch(`${b.gateway.origin}${b.lease().path}/v1/responses`, {
      headers: { upgrade: 'websocket', connection: 'upgrade' },
    });
    expect(response.status).toBe(426);
  });

  test('counts tokens for nothing', async () => {
    const b = started(() => Response.json({ input_tokens: 7, totalTokens: 7 }));
    const lease = b.lease({ limits: { requests: 0, tokens: null, usd: null } });
    const counted = await post(b.gateway, lease, 'messages', { path: '/v1/messages/count_tokens' });
    expect(await counted.json()).toMatchObject({ input_tokens: 7 });
    await post(b.gateway, lease, 'gemini', { path: '/v1beta/models/own:countTokens' });
    expect(b.provider.requests.map((r) => r.path)).toEqual([
      '/v1/messages/count_tokens',
      '/v1beta/models/real:countTokens',
    ]);
    expect(lease.report()).toMatchObject({ usage: { requests: 0, costUsd: 0 }, stop: null });
  });

  test('a count that the server does not know is no end', async () => {
    const b = started(() => Response.json({ error: { message: 'no' } }, { status: 404 }));
    const lease = b.lease();
    expect((await post(b.gateway, lease, 'messages', { path: '/v1/messages/count_tokens' })).status).toBe(404);
    expect((await post(b.gateway, lease, 'responses', { path: '/v1/responses/compact' })).status).toBe(404);
    expect(lease.stopped.aborted).toBe(false);
    expect((await post(b.gateway, lease, 'responses')).status).toBe(404);
    expect(lease.stopped.aborted).toBe(true);
  });

  test('that is closed cuts what is under way, and leaves nothing at the provider', async () => {
    const b = started((_seen, left) => openStream([events('chat')[0] ?? ''], left));
    const lease = b.lease();
    const response = await post(b.gateway, lease, 'chat', { stream: true });
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await lease.close();
    const rest = await reader?.read().catch(() => 'cut');
    expect(rest).toBe('cut' as never);
    await until(() => b.provider.left.count === 1);
    expect(lease.report().usage).toEqual({ inputTokens: null, outputTokens: null, costUsd: null, requests: 1 });
    expect(b.exchange()).toMatchObject([{ request: 1, trouble: 'left', answer: events('chat')[0] }]);
    expect(lease.report().stop).toBeNull();
  });

  test('that is cancelled answers nothing more', async () => {
    const b = started((_seen, left) => openStream([], left));
    const cancel = new AbortController();
    const lease = b.lease({ signal: cancel.signal });
    const waiting = post(b.gateway, lease, 'messages', { stream: true });
    await until(() => b.provider.requests.length === 1);
    cancel.abort();
    expect(await messageOf(await waiting)).toBe('skillopt: the rollout has ended');
    await until(() => b.provider.left.count === 1);
    expect(await messageOf(await post(b.gateway, lease, 'messages'))).toBe('skillopt: the rollout has ended');
    expect(b.provider.requests).toHaveLength(1);
  });

  test('an agent that leaves takes its request with it', async () => {
    const b = started((seen, left) => openStream(seen.body.stream ? [events('messages')[0] ?? ''] : [], left));
    const lease = b.lease();
    const leave = new AbortController();
    const streamed = await post(b.gateway, lease, 'messages', { stream: true, signal: leave.signal });
    const unanswered = post(b.gateway, lease, 'messages', { signal: leave.signal }).catch(() => 'left');
    await until(() => b.provider.requests.length === 2);
    leave.abort();
    expect(await unanswered).toBe('left' as never);
    await streamed.text().catch(() => '');
    await until(() => b.provider.left.count === 2);
    await lease.close();
    expect(lease.report()).toMatchObject({ usage: { inputTokens: null, outputTokens: null, requests: 2 }, stop: null });
  });

  test('an agent that leaves at the end of an answer was answered', async () => {
    const all = events('messages');
    const b = started((_seen, left) => openStream(all, left));
    const lease = b.lease();
    const leave = new AbortController();
    const response = await post(b.gateway, lease, 'messages', { stream: true, signal: leave.signal });
    let text = '';
    for (const reader = response.body?.getReader(); !text.includes('message_stop'); )
      text += new TextDecoder().decode((await reader?.read())?.value);
    leave.abort();
    await until(() => b.provider.left.count === 1);
    await lease.close();
    expect(lease.report().usage).toMatchObject({ inputTokens: 140, outputTokens: 20 });
  });
});

test('a fault of this program is told to the agent and in the report, and ends nothing else', async () => {
  const b = started(undefined, {
    lane: {
      enter: () => Promise.reject(new TypeError('no such thing')),
    },
  });
  const lease = b.lease();
  const response = await post(b.gateway, lease, 'chat');
  expect([response.status, await messageOf(response)]).toEqual([500, 'skillopt: the gateway failed: no such thing']);
  expect(lease.report().stop).toMatchObject({ refusal: { failure: { code: 'internal' } } });
  expect((await fetch(`${b.gateway.origin}${lease.path}/v1/models`)).status).toBe(200);
});

describe('answers', () => {
  test('are the same bytes and the same counts however they come', async () => {
    let pieces: readonly Uint8Array[] = [];
    const b = started(() => {
      const waiting = [...pieces];
      const body = new ReadableStream({
        pull: async (controller) => {
          await Bun.sleep(0);
          const piece = waiting.shift();
          if (piece === undefined) controller.close();
          else controller.enqueue(piece);
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...protocols),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        async (protocol, text, cuts) => {
          const bytes = new TextEncoder().encode(events(protocol, text).join(''));
          const at = [0, ...cuts.map((n) => n % bytes.length).sort((x, y) => x - y), bytes.length];
          pieces = at.slice(1).map((end, i) => bytes.slice(at[i], end));
          const lease = b.lease();
          const response = await post(b.gateway, lease, protocol, { stream: true });
          expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
          await lease.close();
          expect(lease.report().usage).toMatchObject({ inputTokens: counts[protocol].inputTokens, outputTokens: 20 });
        },
      ),
      { numRuns: 50 },
    );
  });

  test('pass as fast as the agent takes them, and no faster', async () => {
    let sent = 0;
    const piece = new TextEncoder().encode(`: ${'x'.repeat(65_530)}\n\n`);
    const b = started(
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) => {
              sent += 1;
              if (sent > 4_000) controller.close();
              else controller.enqueue(piece);
            },
          }),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
      { settings: { betweenSec: 30 } },
    );
    const lease = b.lease();
    const response = await post(b.gateway, lease, 'chat', { stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    // it stands still where the buffers between are full
    let last = -1;
    await until(() => {
      const isStill = sent === last;
      last = sent;
      return isStill;
    });
    expect(sent).toBeLessThan(2_000);
    let bytes = 0;
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
      bytes += next.value.byteLength;
    expect(bytes).toBeGreaterThan(3_900 * piece.byteLength);
  });

  test('and requests may be large', async () => {
    const text = 'long '.repeat(1_000_000);
    const b = started((seen) => wellAnswer(seen, text));
    const lease = b.lease();
    const response = await post(b.gateway, lease, 'chat', { texts: [text], stream: true });
    expect(await response.text()).toBe(events('chat', text).join(''));
    expect(JSON.stringify(b.provider.requests[0]?.body)).toContain(text);
    await lease.close();
    const [line] = b.exchange();
    expect(JSON.stringify(line).length).toBeLessThan(5_000_000);
    expect(String(line?.body)).toContain('more characters)');
    expect(String(line?.answer)).toContain('more bytes)');
  });

  test('for eight rollouts at once go each to its own', async () => {
    const b = started((seen) => wellAnswer(seen, String((seen.body.messages as { content: string }[])[0]?.content)));
    const leases = Array.from({ length: 8 }, () => b.lease());
    const answers = await Promise.all(
      leases.flatMap((lease, i) =>
        [0, 1, 2].map(async (n) => {
          const texts = [`rollout ${i}, request ${n}`];
          const response = await post(b.gateway, lease, 'chat', { texts, stream: n === 0 });
          return [
            await response.text(),
            n === 0 ? events('chat', texts[0]).join('') : JSON.stringify(whole('chat', texts[0])),
          ];
        }),
      ),
    );
    for (const [got, expected] of answers) expect(got).toBe(expected as string);
    await Promise.all(leases.map((lease) => lease.close()));
    for (const lease of leases) expect(lease.report().usage).toMatchObject({ requests: 3, inputTokens: 300 });
    expect(b.exchange()).toHaveLength(24);
  });
});

describe('a gateway', () => {
  test('answers on a socket that nobody else opens, and takes it away', async () => {
    const b = started();
    const lease = b.lease();
    const { socketPath } = b.gateway;
    expect([statSync(socketPath).mode & 0o777, statSync(b.folder).mode & 0o777]).toEqual([0o600, 0o700]);
    const response = await fetch(`http://any${lease.path}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify(ask('messages', ['x'])),
      unix: socketPath,
    });
    expect(await response.json()).toEqual(whole('messages'));
    await b.gateway.close();
    expect(existsSync(socketPath)).toBe(false);
    expect(await fetch(b.gateway.origin).catch(() => 'closed')).toBe('closed' as never);
    await b.gateway.close();
  });

  test('leaves nothing that keeps a program from its end', async () => {
    const script = `
      const { bench, post } = await import(${JSON.stringify(join(import.meta.dir, 'gateway-fixture.ts'))});
      const b = bench((seen) => new Response('', { status: 429, headers: { 'retry-after': '60' } }));
      const lease = b.lease();
      lease.onWait(() => {});
      const asked = post(b.gateway, lease, 'chat').catch(() => null);
      while (b.waits.length === 0) await Bun.sleep(1);
      await b.gateway.close();
      await asked;
      await b.stop();
      console.log('over');
    `;
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' });
    expect([await new Response(child.stdout).text(), await child.exited]).toEqual(['over\n', 0]);
  });

  test('that can have no socket says so before anything is spent', async () => {
    const b = started();
    const folder = join(b.folder, 'x'.repeat(100));
    const failure = (() => {
      try {
        createGateway({ upstream: b.gateway.upstream, folder, lane: new Lane(), room: null, random: () => 0 });
      } catch (error) {
        return error instanceof SkilloptError ? error.failure : null;
      }
      return null;
    })();
    expect(failure).toMatchObject({ code: 'environment-down', where: folder });
    expect(failure?.fix).toContain('TMPDIR');
    expect(existsSync(folder)).toBe(false);
  });
});
