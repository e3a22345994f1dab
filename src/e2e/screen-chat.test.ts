import { afterAll, expect, test } from 'bun:test';
import { removePlaces } from './binary.ts';
import { refusal } from './model-server.ts';
import { QuizSession } from './quiz.ts';

afterAll(removePlaces);

/** A gate that requests wait at; `open` lets all of them through. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise.then(() => null), open: () => resolve() };
}

// Requests are held where the screen is to be read, so that nothing hangs on how fast it is.
test('a run with models at 80×24: what they are, what they do, what they wait for and what they cost', async () => {
  const own = new QuizSession({ model: { price: { input: 1000, output: 5000 } } });
  const [first, reading, last] = [gate(), gate(), gate()];
  let refused = false;
  own.server.trouble = (q) => {
    if (q.model === 'optimizer') return q.turns.length >= 5 ? reading.passed : null;
    if (own.asked('target').length <= 4) return first.passed;
    if (own.asked('target').length < 12) return null;
    if (refused) return last.passed;
    refused = true;
    return refusal(429, 'rate_limit_error', 'slow down', { 'retry-after': '30' });
  };
  await using terminal = own.inTerminal(['run', 'session', '--yes']);
  const start = await terminal.waitFor('running');
  expect(start).toMatch(/^ skillopt quiz {2}chat · openai-compatible\/target {2,}baseline$/m);
  const paid = () => `$${((own.server.tokens.input * 1000 + own.server.tokens.output * 5000) / 1e6).toFixed(2)} `;
  expect(own.server.checked).toHaveLength(2);
  expect(start).toMatch(/^ rollouts 0\/100 .* calls 0 {2}/m);
  expect(start).toContain(`calls 0  ${paid()}`);
  first.open();

  const reads = await terminal.waitFor(/^ optimizer {2}reads 4 failing runs, 2 calls \d:\d\d/m);
  expect(reads).toMatch(/^ (rollouts )?10\/100 .* calls 2 {2}\$\d\.\d\d /m);
  expect(reads).toContain(`  ${paid()}`);
  await terminal.type('e');
  await terminal.press('left');
  const baseline = await terminal.waitFor(/^── baseline ─/m);
  expect(baseline).toMatch(/^ power {2}what one gate can tell\n {3}a neutral draft is kept in about 10 % of gates/m);
  await terminal.press('esc');
  await terminal.waitFor('── feed ─');
  reading.open();

  // one worker is told to wait; those that run come to their end, and none starts before the time has passed
  await terminal.waitFor(/^ waiting {2}(30|2\d) s: too many requests, try 2 of 5/m);
  await terminal.resize(50, 15);
  await terminal.settled();
  const small = await terminal.waitFor(/^ waiting {2}\d\d s: too many requests, try 2 of 5/m);
  expect(small).toMatch(/^ \d+\/100 .*\$\d+\.\d\d {2}\d:\d\d /m);
  await terminal.resize(80, 24);
  last.open();
  await terminal.type('x');
  await terminal.ended;
  expect(await terminal.history()).toMatch(/at least\s+\$\d+\.\d\d, \d+ tokens/);
});
