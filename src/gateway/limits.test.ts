import { afterEach, describe, expect, test } from 'bun:test';
import { openStream } from '../models/server-fixture.ts';
import { type GatewayLimits, protocols, type SessionRoom } from '../ports/gateway.ts';
import { waitUntil } from '../process/wait.ts';
import { counts, data, events } from './answers-fixture.ts';
import { type Bench, type BenchOptions, bench, messageOf, post } from './gateway-fixture.ts';
import { limitFindings } from './limit-findings.ts';

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
const limits = (some: Partial<GatewayLimits>): GatewayLimits => ({ requests: null, tokens: null, usd: null, ...some });

describe.each(protocols)('%s', (protocol) => {
  const tokens = (counts[protocol].inputTokens ?? 0) + 20;
  const usd = ((counts[protocol].inputTokens ?? 0) + 200) / 1_000_000;

  test.each<[Partial<GatewayLimits>, number, 'requests' | 'tokens' | 'usd']>([
    [{ requests: 2 }, 2, 'requests'],
    [{ tokens: 2 * tokens }, 2, 'tokens'],
    [{ tokens: 2 * tokens + 1 }, 3, 'tokens'],
    [{ usd: 1.5 * usd }, 2, 'usd'],
    [{ requests: 1, tokens: 1, usd: 0.000001 }, 1, 'requests'],
  ])('with limits of %j is asked for so often: %d', async (some, most, limit) => {
    const b = started();
    const lease = b.lease({ limits: limits(some) });
    for (let i = 0; i < most; i++) {
      expect((await post(b.gateway, lease, protocol, { stream: i === 0 })).status).toBe(200);
      await until(() => lease.report().usage.outputTokens === (i + 1) * 20);
      expect(lease.stopped.aborted).toBe(false);
    }
    const beyond = await post(b.gateway, lease, protocol);
    expect([beyond.status, beyond.headers.get('x-should-retry')]).toEqual([400, 'false']);
    expect(await messageOf(beyond)).toContain(`"agentLimits.${limit}" allows`);
    expect(lease.stopped.aborted).toBe(true);
    expect((await post(b.gateway, lease, protocol)).status).toBe(400);
    expect(b.provider.requests).toHaveLength(most);
    expect(lease.report()).toMatchObject({ stop: { kind: 'limit', limit, of: 'rollout' }, usage: { requests: most } });
  });
});

describe('a limit', () => {
  test('on requests holds for those that are sent at once', async () => {
    const b = started();
    const lease = b.lease({ limits: limits({ requests: 3 }) });
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(b.gateway, lease, 'chat')));
    expect(answers.map((r) => r.status).sort()).toEqual([200, 200, 200, 400, 400, 400, 400, 400]);
    expect(b.provider.requests).toHaveLength(3);
  });

  test('on requests counts each once, however often it was tried', async () => {
    let n = 0;
    const b = started((seen) =>
      n++ === 0 ? new Response('', { status: 500 }) : Response.json({ choices: [], n: seen.path }),
    );
    const lease = b.lease({ limits: limits({ requests: 1 }) });
    expect((await post(b.gateway, lease, 'chat')).status).toBe(200);
    expect([lease.report().usage.requests, lease.stopped.aborted]).toEqual([2, false]);
    expect((await post(b.gateway, lease, 'chat')).status).toBe(400);
  });

  test('on tokens bounds the answers to what is left, and settings do', async () => {
    const asked = async (settings: object, most: number | null) => {
      const b = started(undefined, { settings });
      const lease = b.lease({ limits: limits({ tokens: most }) });
      for (let i = 0; i < 2; i++) await (await post(b.gateway, lease, 'messages')).text();
      return b.provider.requests.map((r) => r.body.max_tokens);
    };
    expect(await asked({}, null)).toEqual([1000, 1000]);
    expect(await asked({}, 500)).toEqual([500, 340]);
    expect(await asked({ maxOutputTokens: 400 }, 500)).toEqual([400, 340]);
    expect(await asked({}, 5_000)).toEqual([1000, 1000]);
  });

  test('reckons with what is under way', async () => {
    const b = started((_seen, left) => openStream([events('messages')[0] ?? ''], left));
    const lease = b.lease({ limits: limits({ tokens: 141 }) });
    const first = await post(b.gateway, lease, 'messages', { stream: true });
    await first.body?.getReader().read();
    const second = await post(b.gateway, lease, 'messages', { stream: true });
    await second.body?.getReader().read();
    expect((await post(b.gateway, lease, 'messages')).status).toBe(400);
    expect(b.provider.requests).toHaveLength(2);
  });

  test('holds where the server tells no tokens, by what was written', async () => {
    const text = 'x'.repeat(400);
    const b = started(() => {
      const chunk = data({ choices: [{ delta: { content: text }, finish_reason: 'stop' }] });
      return new Response(chunk, { headers: { 'content-type': 'text/event-stream' } });
    });
    const lease = b.lease({ limits: limits({ tokens: 500, usd: 1 }) });
    let answered = 0;
    while (answered < 50 && (await post(b.gateway, lease, 'chat', { stream: true })).status === 200) answered += 1;
    // 100 tokens of an answer, and some 60 of a request
    expect(answered).toBeGreaterThanOrEqual(2);
    expect(answered).toBeLessThanOrEqual(5);
    expect(lease.report()).toMatchObject({
      usage: { inputTokens: null, outputTokens: null, costUsd: null },
      stop: { limit: 'tokens' },
    });
  });

  test('on money needs a price', () => {
    const found = limitFindings({ id: 'ollama/x', hasPrice: false }, limits({ usd: 1 }));
    expect(found).toMatchObject([{ level: 'error', where: 'agentLimits.usd' }]);
    expect(limitFindings({ id: 'x', hasPrice: true }, limits({ usd: 1 }))).toEqual([]);
    expect(limitFindings({ id: 'x', hasPrice: false }, limits({ tokens: 1 }))).toEqual([]);
  });

  test('what is paid beside tokens makes the cost unknown', async () => {
    const b = started(() =>
      Response.json({
        content: [],
        usage: { input_tokens: 10, output_tokens: 1, server_tool_use: { web_search_requests: 2 } },
      }),
    );
    const lease = b.lease();
    await (await post(b.gateway, lease, 'messages')).text();
    expect(lease.report().usage).toEqual({ inputTokens: 10, outputTokens: 1, costUsd: null, requests: 1 });
  });
});

describe('the session’s room', () => {
  /** A ledger that counts what it is told. */
  function ledger(tokens: number | null, usd: number | null = null) {
    const told = new Map<string, number>();
    const room: SessionRoom = {
      left: () => ({ tokens: tokens === null ? null : tokens - [...told.values()].reduce((a, b) => a + b, 0), usd }),
      counts: (rollout) => told.has(rollout),
    };
    return { room, told };
  }

  test('is shared by all rollouts, open, closed and told', async () => {
    const { room, told } = ledger(119 * 3);
    const b = started(undefined, { room });
    const lease = (rollout: string) => b.lease({ rollout });
    const [one, two, three] = [lease('one'), lease('two'), lease('three')];
    await (await post(b.gateway, one, 'chat')).text();
    await one.close();
    await (await post(b.gateway, two, 'chat')).text();
    told.set('one', 120);
    await (await post(b.gateway, two, 'chat')).text();
    const refused = await post(b.gateway, three, 'chat');
    expect(await messageOf(refused)).toBe('skillopt: the session has spent the tokens that "limits.tokens" allows');
    expect(three.report()).toMatchObject({
      stop: { kind: 'limit', limit: 'tokens', of: 'session' },
      usage: { requests: 0 },
    });
    expect(b.provider.requests).toHaveLength(3);
  });

  test('of money is held, and one without limits holds nothing back', async () => {
    const b = started(undefined, { room: ledger(null, 0.0001).room });
    const lease = b.lease();
    expect((await post(b.gateway, lease, 'chat')).status).toBe(200);
    expect((await post(b.gateway, lease, 'chat')).status).toBe(400);
    expect(lease.report().stop).toMatchObject({ limit: 'usd', of: 'session' });
    const free = started(undefined, { room: ledger(null).room });
    const other = free.lease();
    for (let i = 0; i < 3; i++) expect((await post(free.gateway, other, 'chat')).status).toBe(200);
  });

  test('bounds the answers, too', async () => {
    const b = started(undefined, { room: ledger(300).room });
    const lease = b.lease();
    for (let i = 0; i < 2; i++) await (await post(b.gateway, lease, 'messages')).text();
    expect(b.provider.requests.map((r) => r.body.max_tokens)).toEqual([300, 140]);
  });
});
