import { afterAll, describe, expect, test } from 'bun:test';
import { Place, removePlaces } from './binary.ts';
import { demo, expectGivenBack, inShell, openDemo, untilLogged } from './screens.ts';
import { essence, finishedDemo } from './sessions.ts';

afterAll(removePlaces);

// Sizes of the terminal, and changes of it; that no frame is larger than the terminal is watched for in every test.

/** Sizes from 20×5 to 200×60, spread over both ranges in an order without pattern. */
const storm = Array.from({ length: 60 }, (_, i) => ({ columns: 20 + ((i * 73) % 181), rows: 5 + ((i * 31) % 56) }));

test('60 changes of size in quick succession: the run ends right', async () => {
  const { place, terminal } = openDemo(20);
  await using _ = terminal;
  await terminal.waitFor('baseline');
  for (const [at, { columns, rows }] of storm.entries()) {
    await terminal.resize(columns, rows);
    if (at % 6 === 0) await untilLogged(place, demo, 'it goes on', (events) => events.length > at);
  }
  if (!terminal.over()) {
    await terminal.resize(100, 30);
    await terminal.settled();
  }
  expect(await terminal.ended).toEqual({ code: 0, signal: null });
  expectGivenBack(terminal);
  expect(await essence(place, demo)).toEqual(await essence((await finishedDemo()).place, demo));
});

describe('a terminal that is too small', () => {
  test.each([
    [39, 10],
    [40, 9],
    [20, 5],
    [12, 2],
  ])('%d×%d: is told so, and the run goes on; larger again it shows the run', async (columns, rows) => {
    const { place, terminal } = openDemo(60, { columns, rows });
    await using _ = terminal;
    const polite = ['skillopt needs 40×10', `this terminal has ${columns}×${rows}`, 'the run goes on'];
    if (columns >= 39) await terminal.waitFor((screen) => screen === polite.join('\n'));
    else await terminal.waitFor(polite[0]?.slice(0, columns - 1) ?? '');
    await untilLogged(place, demo, 'it goes on', (events) => events.length > 30);
    await terminal.resize(40, 10);
    await terminal.waitFor('REHEARSAL');
    await terminal.waitFor((screen) => screen.split('\n').length === 9);
    await terminal.type('x');
    expect((await terminal.ended).code).toBe(130);
    expectGivenBack(terminal);
  });
});

test('40×10: everything that is asked and answered fits', async () => {
  const { terminal } = openDemo(60, { columns: 40, rows: 10 });
  await using _ = terminal;
  await terminal.waitFor('REHEARSAL');
  for (const [key, says] of [
    ['d', '── draft'],
    ['m', '── tasks × steps'],
    ['e', /^── (step \d|baseline) /m],
    ['f', '── feed'],
    ['w', '── draft of'],
    ['?', '── keys'],
  ] as const) {
    await terminal.type(key);
    await terminal.waitFor(says);
  }
  await terminal.type('q');
  await terminal.waitFor('[y] now [s] after step [n] no');
  await terminal.type('y');
  expect((await terminal.ended).code).toBe(130);
});

test('the screen begins at its first column, wherever the cursor stood', async () => {
  const place = new Place();
  const { terminal, left } = inShell(place, 'demo --delay 60', {
    columns: 50,
    rows: 15,
    before: 'seq 20; printf typed-ahead',
  });
  await using _ = terminal;
  const screen = await terminal.waitFor('REHEARSAL');
  expect(screen).toStartWith(' skillopt hello-harbor REHEARSAL');
  await terminal.type('x');
  const end = await left();
  expect(end.code).toBe(130);
  expect(end.screen).toContain('20\ntyped-ahead\n'); // what stood there stands there again
});
