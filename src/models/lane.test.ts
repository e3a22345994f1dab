import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { LanePlace } from '../ports/gateway.ts';
import { Lane } from './lane.ts';
import { Lanes } from './lanes.ts';
import { never } from './server-fixture.ts';

/** Takes all places that are free now. */
async function fill(lane: Lane): Promise<LanePlace[]> {
  const places: LanePlace[] = [];
  for (let n = lane.limit; n > 0; n--) places.push(await lane.enter(never));
  return places;
}

function succeed(places: readonly LanePlace[]): void {
  for (const place of places) {
    place.succeeded();
    place.leave();
  }
}

async function grownTo(limit: number): Promise<Lane> {
  const lane = new Lane();
  while (lane.limit < limit) succeed(await fill(lane));
  return lane;
}

describe('a lane', () => {
  test('starts with a few and grows while it is full, up to its most', async () => {
    const lane = new Lane(11);
    expect(lane.limit).toBe(8);
    for (let n = 0; n < 20; n++) succeed(await fill(lane));
    expect(lane.limit).toBe(11);
    expect(new Lane(5).limit).toBe(5);
  });

  test('does not grow for calls that come one by one', async () => {
    const lane = new Lane();
    for (let n = 0; n < 20; n++) succeed([await lane.enter(never)]);
    expect(lane.limit).toBe(8);
  });

  test('lets no more in than its limit, and those that wait in their order', async () => {
    const lane = new Lane();
    const places = await fill(lane);
    const entered: number[] = [];
    const waiting = [1, 2, 3].map((n) => lane.enter(never).then((place) => [entered.push(n), place] as const));
    expect(entered).toEqual([]);
    places[0]?.leave();
    places[0]?.leave();
    await waiting[0];
    expect(entered).toEqual([1]);
    places[1]?.leave();
    (await waiting[0])?.[1].leave();
    await Promise.all(waiting.slice(1));
    expect(entered).toEqual([1, 2, 3]);
  });

  test('is halved once for all refusals of an episode', async () => {
    const lane = await grownTo(8);
    const places = await fill(lane);
    for (const place of places) place.refused(0);
    expect(lane.limit).toBe(4);
    for (const place of places) place.leave();
  });

  test('is not healed by calls that started before the cut, and is by one that started after', async () => {
    const lane = await grownTo(8);
    const [first, second, ...rest] = await fill(lane);
    first?.refused(0);
    for (const place of rest) place.succeeded();
    expect(lane.limit).toBe(4);
    second?.refused(0);
    expect(lane.limit).toBe(4);
    for (const place of [first, second, ...rest]) place?.leave();
    const after = await lane.enter(never);
    after.succeeded();
    after.refused(0);
    expect(lane.limit).toBe(2);
  });

  test('never goes below one', async () => {
    const lane = new Lane();
    for (let n = 0; n < 6; n++) {
      const place = await lane.enter(never);
      place.refused(0);
      place.leave();
      succeed([await lane.enter(never)]);
      const other = await lane.enter(never);
      other.refused(0);
      other.leave();
    }
    expect(lane.limit).toBe(1);
  });

  test('lets nobody in while it is closed', async () => {
    const lane = new Lane();
    const place = await lane.enter(never);
    place.refused(200);
    place.leave();
    let inside = false;
    const entering = lane.enter(never).then((entered) => {
      inside = true;
      entered.leave();
    });
    await Promise.resolve();
    expect(inside).toBe(false);
    await entering;
  });

  test('lets go of who cancels while waiting', async () => {
    const lane = new Lane(1);
    const place = await lane.enter(never);
    const cancel = new AbortController();
    const reason = new Error('enough');
    const waiting = lane.enter(cancel.signal).catch((e: unknown) => e);
    const next = lane.enter(never);
    cancel.abort(reason);
    expect(await waiting).toBe(reason);
    expect(await lane.enter(AbortSignal.abort(reason)).catch((e: unknown) => e)).toBe(reason);
    place.leave();
    (await next).leave();
    // nobody was counted who never came in
    expect(await lane.enter(never)).toBeDefined();
  });

  test('keeps its limit within its bounds whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.constantFrom('enter', 'succeed', 'refuse', 'leave'), { maxLength: 60 }),
        async (most, steps) => {
          const lane = new Lane(most);
          const inside: LanePlace[] = [];
          for (const step of steps) {
            if (step === 'enter' && inside.length < lane.limit) inside.push(await lane.enter(never));
            if (step === 'succeed') inside.at(-1)?.succeeded();
            if (step === 'refuse') inside.at(-1)?.refused(0);
            if (step === 'leave') inside.shift()?.leave();
            expect(lane.limit).toBeGreaterThanOrEqual(1);
            expect(lane.limit).toBeLessThanOrEqual(most);
          }
        },
      ),
    );
  });
});

test('models of one endpoint share a lane; another URL, key or program has its own', () => {
  const lanes = new Lanes();
  const shared = lanes.of({ model: 'openai/a' });
  expect(lanes.of({ model: 'openai/b', temperature: 1 })).toBe(shared);
  const others = [
    { model: 'anthropic/a' },
    { model: 'openai/a', baseUrl: 'http://h/v1' },
    { model: 'openai/a', keyEnv: 'OTHER' },
    { model: 'command/claude' },
    { model: 'command/codex' },
  ].map((settings) => lanes.of(settings));
  expect(new Set([shared, ...others]).size).toBe(6);
});
