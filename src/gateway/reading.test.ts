import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { protocols } from '../ports/gateway.ts';
import { events } from './answers-fixture.ts';
import { type Bench, bench, key, post, wellAnswer } from './gateway-fixture.ts';

let b: Bench;
afterEach(() => b.stop());

const skill = {
  description: 'Use when a report has to be cleaned before anything in it is counted.',
  body: '# Clean\n\nTake every line that begins with a semicolon for a comment.\n',
};

describe.each(protocols)('%s', (protocol) => {
  test('shows whether a skill was offered and read', async () => {
    b = bench();
    const lease = b.lease({ skill });
    const say = async (texts: string[], tools = true) =>
      (await post(b.gateway, lease, protocol, { texts, tools })).text();
    expect(lease.report()).toMatchObject({ visible: null, read: null });
    await say(['A title for: Do the task.'], false);
    await say(['Do the task.', `- clean: ${skill.description}`]);
    expect(lease.report()).toMatchObject({ visible: true, read: false });
    await say(['Do the task.', `- clean: ${skill.description}`, `     1\t${skill.body}`]);
    expect(lease.report()).toMatchObject({ visible: true, read: true });
    const other = b.lease({ skill });
    await (await post(b.gateway, other, protocol)).text();
    expect(other.report()).toMatchObject({ visible: false, read: false });
  });
});

test('what the model never saw proves nothing', async () => {
  b = bench((seen) =>
    JSON.stringify(seen.body).includes('semicolon') ? new Response('', { status: 400 }) : wellAnswer(seen),
  );
  const lease = b.lease({ skill });
  await post(b.gateway, lease, 'chat', { texts: [skill.description] });
  await post(b.gateway, lease, 'chat', { texts: [skill.description, skill.body] });
  expect(lease.report()).toMatchObject({ visible: true, read: false });
});

describe('the exchange file', () => {
  test('has a line for each request, with what was sent and what came, and no key', async () => {
    let n = 0;
    b = bench((seen) => (n++ === 0 ? new Response(`busy ${key}`, { status: 503 }) : wellAnswer(seen)));
    const lease = b.lease();
    const spread = Buffer.from('{\n  "model": "own",\r\n  "stream": true,\n  "messages": []\n}');
    const response = await post(b.gateway, lease, 'messages', { body: spread });
    await response.text();
    await lease.close();
    expect(b.exchange()).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        request: 1,
        attempt: 1,
        protocol: 'messages',
        path: '/v1/messages',
        status: 503,
        trouble: 'overloaded',
        waitedMs: expect.any(Number),
        tookMs: expect.any(Number),
        counts: expect.objectContaining({ inputTokens: null }),
        costUsd: 0,
        body: { model: 'real', stream: true, messages: [] },
        answer: 'busy [key]',
      },
      expect.objectContaining({
        attempt: 2,
        status: 200,
        trouble: null,
        counts: expect.objectContaining({ inputTokens: 140, outputTokens: 20 }),
        costUsd: 340 / 1_000_000,
        answer: events('messages').join(''),
      }),
    ]);
    expect(statSync(join(b.folder, 'exchange.jsonl')).mode & 0o777).toBe(0o600);
    expect(lease.report().exchangeProblem).toBeUndefined();
  });

  test('that can’t be written is told, and ends nothing', async () => {
    b = bench();
    const place = join(b.folder, 'taken');
    mkdirSync(place);
    const lease = b.lease({ exchangeFile: place });
    for (let i = 0; i < 2; i++) expect((await post(b.gateway, lease, 'chat')).status).toBe(200);
    await lease.close();
    expect(lease.report().exchangeProblem).toMatch(/^the exchange file could not be written: /);
    const none = b.lease({ exchangeFile: null });
    await post(b.gateway, none, 'chat');
    await none.close();
    expect(existsSync(join(b.folder, 'exchange.jsonl'))).toBe(false);
  });
});
