import { afterAll, describe, expect, test } from 'bun:test';
import { expectFailure, jsonOf, removePlaces } from './binary.ts';
import { QuizSession } from './quiz.ts';
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
  // by what the whole session costs: from too little for a reflection to enough for all but the last rollouts
  test.each([6, 12, 20])('of $%d is never exceeded, and the rest of the session is paid from what was kept', async (usd) => {
    const own = new QuizSession({ model: { price }, config: { limits: limits(usd) } });
    const end = await own.succeed(['run', 'session', '--finalize']);
    expect(paid(own)).toBeLessThanOrEqual(usd);
    expect(logged(own)).toBeCloseTo(paid(own), 6);
    const status = jsonOf(await own.succeed(['status', 'session', '--json']));
    expect(Number(status.costUsd)).toBeCloseTo(paid(own), 6);
    expect(status).toMatchObject({ cause: 'limit' });
    expect(end.stdout).toMatch(/^limit +the limit on money is reached/m);
    expect(end.stdout).toMatch(/^ended +a limit was reached/m);
    expect(end.stdout).toContain(`$${paid(own).toFixed(2)}`);
    await own.succeed(['verify', 'session']);

    // raised, a fork goes on from what was paid
    await own.succeed(['fork', 'session', '--to', 'more']);
    const config = JSON.parse(own.place.read('more/skillopt.config.json'));
    await Bun.write(own.place.path('more/skillopt.config.json'), JSON.stringify({ ...config, limits: limits(200) }));
    await own.succeed(['run', 'more', '--finalize']);
    expect(jsonOf(await own.succeed(['status', 'more', '--json']))).toMatchObject({ result: 'improved', cause: 'ceiling' });
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
void performedAgain;
