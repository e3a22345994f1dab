import { afterAll, describe, expect, test } from 'bun:test';
import { expectFailure, jsonOf, removePlaces } from './binary.ts';
import { writeFiles } from './own-pack.ts';
import { QuizSession, quizPlay } from './quiz.ts';
import { performedAgain } from './sessions.ts';

afterAll(removePlaces);

const price = { input: 1000, output: 5000 };
const limits = (usd: number) => ({ rollouts: null, minutes: null, usd });

/** What the server has been paid, by its own count. */
const paid = ({ server: { tokens } }: QuizSession): number =>
  (tokens.input * price.input + tokens.output * price.output) / 1e6;

/** What the log says was spent, over all roles. */
const logged = (own: QuizSession): number =>
  own.events
    .filter((e) => ['rollout.finished', 'rollout.cancelled', 'model.called'].includes(e.type))
    .reduce((sum, e) => sum + ((e.usage as { costUsd: number } | undefined)?.costUsd ?? 0), 0);

describe('a limit on money', () => {
  /** The sums of server, log and status are one, and below the limit. */
  async function holds(own: QuizSession, usd: number): Promise<void> {
    expect(paid(own)).toBeLessThanOrEqual(usd);
    expect(logged(own)).toBeCloseTo(paid(own), 6);
    const status = jsonOf(await own.succeed(['status', 'session', '--json']));
    expect(Number(status.costUsd)).toBeCloseTo(paid(own), 6);
    await own.succeed(['verify', 'session']);
  }
  const limited = (usd: number) => new QuizSession({ model: { price }, config: { limits: limits(usd) } });

  test('too low for the baseline stops after the first rollout; raised to what is named, the session goes on', async () => {
    const own = limited(5);
    const cut = await own.run(['run', 'session', '--finalize']);
    expectFailure(cut, {
      code: 2,
      what: /^the limit of \$5 leaves too little for the search: no edit could be tried yet$/,
      where: /^limits\.usd$/,
      fix: /^raise it to about \$\d+\.\d\d or more and start again: what is done is kept$/,
    });
    await holds(own, 1.5);
    const kept = own.events.flatMap((e) => (e.type === 'rollout.finished' ? [e.key] : []));
    expect(kept.length).toBe(1);
    await own.succeed(['run', 'session', '--finalize', '--limit-usd', '200']);
    await holds(own, 200);
    expect(performedAgain(own.events)).toEqual([]);
    expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({ result: 'improved' });
  });

  test('too low for all of the search ends it, and what was kept back pays the rest; a fork with a higher one goes on from what was paid', async () => {
    const own = limited(18);
    const end = await own.succeed(['run', 'session', '--finalize']);
    await holds(own, 18);
    expect(end.stdout).toMatch(/^ended +a limit was reached/m);
    expect(end.stdout).toContain(`$${paid(own).toFixed(2)}`);
    expect(end.stdout).toMatch(/^confirmed +selection /m);
    await own.succeed(['fork', 'session', '--to', 'more']);
    const config = JSON.parse(own.place.read('more/skillopt.config.json'));
    writeFiles(own.place.dir, { 'more/skillopt.config.json': JSON.stringify({ ...config, limits: limits(200) }) });
    await own.succeed(['run', 'more', '--finalize']);
    const status = jsonOf(await own.succeed(['status', 'more', '--json']));
    expect(status).toMatchObject({ result: 'improved', cause: 'ceiling' });
    // baseline, screening and gate
    expect((status.rollouts as { inherited: number }).inherited).toBeGreaterThan(10);
  });

  test('reached in the confirmation is not exceeded, and a higher one goes on where it stopped', async () => {
    const dear = ' and so on'.repeat(25);
    const own: QuizSession = new QuizSession({
      model: { price },
      config: { limits: limits(26) },
      // from the confirmation on the target is more talkative than anything that was kept back for it
      play: (q) => {
        const said = quizPlay(q);
        return own.server.asked.length > 42 ? { text: `Well${dear}.\n${said.text}` } : said;
      },
    });
    const cut = await own.run(['run', 'session', '--finalize']);
    expectFailure(cut, {
      code: 2,
      what: /^the limit of \$26 leaves too little for the (confirmation|sealed test)$/,
      where: /^limits\.usd$/,
      fix: /^raise it to about \$\d+\.\d\d and start again: what is done is kept$/,
    });
    await holds(own, 26);
    const kept = own.events.flatMap((e) => (e.type === 'rollout.finished' ? [e.key] : []));
    await own.succeed(['run', 'session', '--finalize', '--limit-usd', '60']);
    await holds(own, 60);
    expect(performedAgain(own.events)).toEqual([]);
    expect(own.asked('target').length).toBe(
      own.events.filter((e) => e.type === 'rollout.finished' || e.type === 'rollout.cancelled').length,
    );
    expect(kept.length).toBeGreaterThan(15);
    expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({ result: 'improved' });
  });

  test('is held when the optimizer is much dearer than the rollouts', async () => {
    const own = new QuizSession({
      model: { price: { input: 1, output: 5 } },
      optimizer: { price },
      config: { limits: limits(5) },
    });
    const end = await own.run(['run', 'session', '--finalize']);
    expect(logged(own)).toBeLessThanOrEqual(5);
    const named = Number(/raise it to about \$(\d+\.\d\d) or more/.exec(end.stderr)?.[1]);
    expect(named).toBeGreaterThan(5);
    expect(end.stdout).toMatch(/^limit +the limit on money is reached/m);
  });

  test('without a known price is refused before anything is asked, with the fix', async () => {
    const own = new QuizSession({ config: { limits: limits(9) } });
    expectFailure(await own.run(['run', 'session']), {
      code: 4,
      what: /^limits\.usd can’t be held: the price of openai-compatible\/target is not known/,
      where: /limits\.usd/,
      fix: /^give it a "price"/,
    });
    expect(own.server.asked).toEqual([]);
    expectFailure(await own.run(['run', 'session', '--limit-usd', '5']), {
      code: 4,
      what: /price/,
      where: /limits\.usd/,
      fix: /"price"/,
    });
    expect(own.server.asked).toEqual([]);
  });
});
