import { expect, test } from 'bun:test';
import { eventsOf, watch } from '../../../events/played-fixture.ts';
import { play } from '../../../session/session-fixture.ts';
import type { Facts } from './facts.ts';
import { factsOf, textOf } from './frame-fixture.ts';
import { header } from './header.ts';
import { frame } from './layout.ts';
import { running } from './running.ts';

async function paused(): Promise<Facts> {
  const events = eventsOf((await play({ world: { seed: 1 }, budget: 60 })).log).slice(0, 40);
  return { ...factsOf({ ...watch(events, {}), running: new Map() }), paused: true };
}

test('a pause that ends by itself counts down, one of the user’s does not', async () => {
  const reading = await paused();
  const f = { ...reading, state: { ...reading.state, reflecting: null } };
  expect(textOf(header(f, 100))).toContain('paused');
  expect(textOf([running(f, 100)])).toStartWith(' paused: nothing new starts');
  // an optimizer that was refused waits, too
  const waiting = { ...reading, resumesAtMs: f.nowMs + 10_267_000 };
  expect(textOf(header(waiting, 100))).toContain('paused · goes on in 2:51:07');
  expect(textOf([running(waiting, 100)])).toStartWith(' paused until the login’s limit is reset, goes on in 2:51:07');
  expect(textOf(header({ ...waiting, nowMs: f.nowMs + 10_266_000 }, 100))).toContain('goes on in 0:01');
});

test('and fits wherever it stands', async () => {
  const f = await paused();
  for (let columns = 40; columns < 140; columns += 7) {
    const lines = frame({ ...f, resumesAtMs: f.nowMs + 604_800_000 }, { columns, rows: 24 });
    for (const line of textOf(lines).split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
  }
});
