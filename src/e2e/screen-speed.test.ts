import { afterAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Place, removePlaces } from './binary.ts';
import { demo, expectGivenBack, openDemo } from './screens.ts';
import { finishedDemo } from './sessions.ts';
import { Terminal } from './terminal.ts';

afterAll(removePlaces);

// Many events at speed: the screen follows, and what it writes stays small.

/** A whole frame of 80×24 is more than this many characters; an event may cost a part of it. */
const FRAME = 2_000;

test('a demo at full speed writes less than a quarter of a frame for each event', async () => {
  const { place, terminal } = openDemo(0);
  await using _ = terminal;
  expect(await terminal.ended).toEqual({ code: 0, signal: null });
  const events = place.lines(demo);
  expect(events).toBeGreaterThan(350);
  expect(terminal.output.length / events).toBeLessThan(FRAME / 4);
});

const module = (path: string) => JSON.stringify(resolve(import.meta.dir, '..', path));

/** The live screen, which follows the first half of a log, and after it rollouts that start and are cancelled. */
const program = `
import { LiveScreen } from ${module('cli/live-screen.tsx')};
import { Fold } from ${module('events/fold.ts')};
import { readFileSync } from 'node:fs';

const log = readFileSync('log.jsonl', 'utf8').trim().split('\\n').map((line) => JSON.parse(line));
const fold = new Fold();
const half = log.slice(0, log.length / 2);
const started = half.find((e) => e.type === 'rollout.started');
const screen = new LiveScreen({ stop() {}, tell: console.log });
await screen.shown();
let hear = () => {};
screen.follow(fold.state, { isPaused: false, resumesAtMs: null, subscribe: (listener) => { hear = listener; }, stop() {} }, { finalizes: false, slowedMs: 0 });
let count = 0;
async function play(event) {
  fold.add({ ...event, seq: ++count });
  hear(event, fold.state);
  if (count % 5 === 0) await new Promise(setImmediate);
}
for (const event of half) await play(event);
for (let i = 0; count < 3000; i++) {
  const key = started.key.replace(/[^/]*$/, i + '.0');
  await play({ ...started, key });
  await play({ ...started, type: 'rollout.cancelled', key, why: 'not needed any more' });
}
await screen.close('over');
console.log('events', count);
`;

test('3,000 events as fast as they can come: each is heard, and few frames are drawn', async () => {
  const place = new Place();
  writeFileSync(place.path('log.jsonl'), (await finishedDemo()).place.read(demo, 'skillopt.jsonl'));
  writeFileSync(place.path('program.tsx'), program);
  await using terminal = Terminal.command(place, [process.execPath, 'program.tsx']);
  expect(await terminal.ended).toEqual({ code: 0, signal: null });
  expectGivenBack(terminal);
  expect(await terminal.history()).toMatch(/^events 300\d$/);
  expect(terminal.output).toContain('REHEARSAL');
  expect(terminal.output.length / 3_000).toBeLessThan(FRAME / 40);
});
