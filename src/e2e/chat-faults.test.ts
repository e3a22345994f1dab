import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { expectFailure, jsonOf, removePlaces, until } from './binary.ts';
import { type Question, refusal } from './model-server.ts';
import { bestSkill, QuizSession, taskOf } from './quiz.ts';
import { essence, performedAgain } from './sessions.ts';

afterAll(removePlaces);

const key = 'sk-ant-e2e-0123456789abcdefghij';

/** What a session without trouble comes to, with its sealed test. */
let whole: unknown;
beforeAll(async () => {
  const own = new QuizSession();
  await own.succeed(['run', 'session', '--finalize']);
  whole = await essence(own.place, 'session');
});

/** Runs a session whose provider makes trouble now and then to its end, and sees that it decides as one without. */
async function decidesAlike(own: QuizSession): Promise<string> {
  const end = await own.succeed(['run', 'session', '--finalize']);
  expect(end.stderr).toBe('');
  expect(await essence(own.place, 'session')).toEqual(whole);
  expect(performedAgain(own.events)).toEqual([]);
  await own.succeed(['verify', 'session']);
  return end.stdout;
}

const finishedKeys = (own: QuizSession) => own.events.flatMap((e) => (e.type === 'rollout.finished' ? [e.key] : []));

describe.concurrent('a provider in trouble', () => {
  test.each([
    ['429 with Retry-After', 'rate_limit_error', 'slow down'],
    [
      '429 whose text speaks of a quota',
      'rate_limit_error',
      'You exceeded your current quota, check your plan and billing',
    ],
  ])('%s is waited for', async (_name, type, message) => {
    const own = new QuizSession();
    const refusedMs: number[] = [];
    const answeredMs: number[] = [];
    own.server.trouble = (q) => {
      const n = own.server.asked.indexOf(q) + 1;
      if (n === 3) {
        refusedMs.push(performance.now());
        return refusal(429, type, message, { 'retry-after': '1' });
      }
      if (refusedMs.length > 0) answeredMs.push(performance.now());
      return null;
    };
    const told = await decidesAlike(own);
    expect(told).toMatch(/^waiting +1 s: too many requests, try 2 of 5 \(openai-compatible\/target\)$/m);
    const unscored = own.events.filter(
      (e) => e.type === 'rollout.finished' && (e.outcome as { status: string }).status !== 'scored',
    );
    expect(unscored).toEqual([]);
    // nobody asked again before the second had passed, and the one who was refused did
    const refused = own.asked('target')[2]!;
    const again = own.server.asked.filter((q) => taskOf(q) === taskOf(refused) && q.system === refused.system);
    expect(again.length).toBeGreaterThanOrEqual(2);
    expect(answeredMs.filter((ms) => ms - refusedMs[0]! >= 950).length).toBeGreaterThan(0);
  });

  test('503 without end for one rollout is unscored and tried again; nothing is decided by it', async () => {
    const own = new QuizSession();
    const refused: Question[] = [];
    own.server.trouble = (q) => {
      const isThis = taskOf(q) === 'sum-eve' && refused.length < 5;
      if (!isThis) return null;
      refused.push(q);
      return refusal(503, 'overloaded_error', 'over capacity', { 'retry-after': '0' });
    };
    await decidesAlike(own);
    expect(refused).toHaveLength(5);
    const unscored = own.events.filter((e) => (e.outcome as { status?: string } | undefined)?.status === 'unscored');
    expect(unscored).toMatchObject([{ task: 'sum-eve', outcome: { reason: 'provider-error' } }]);
  });

  test('a refused key pauses with the variable to look at; mended, the same command goes on and asks nothing again', async () => {
    const own = new QuizSession({ provider: 'anthropic', env: { ANTHROPIC_API_KEY: key } });
    own.server.trouble = (q) =>
      own.server.asked.length > 20 && q.headers.get('authorization') === `Bearer ${key}`
        ? refusal(401, 'authentication_error', `invalid x-api-key ${key}`)
        : null;
    const fault = {
      code: 4,
      what: /^the key was refused \(401\)$/,
      where: /^anthropic\/\w+ at http/,
      fix: /ANTHROPIC_API_KEY/,
    };
    const first = await own.run(['run', 'session', '--yes']);
    expectFailure(first, fault);
    expect(first.stdout).toMatch(/^paused +the key was refused .*ANTHROPIC_API_KEY/m);
    expect(first.stdout + first.stderr).not.toContain(key);
    expect(first.stdout).toMatch(/^failed at +task [\w-]+: the key was refused \(401\) \(line \d+ of the log\)$/m);
    expect(first.stdout).toMatch(/^command +skillopt run session --yes$/m);
    const document = readFileSync(own.place.path('session', 'skillopt.md'), 'utf8');
    expect(document).toMatch(/^- \*\*failed at\*\* task [\w-]+: the key was refused/m);
    expect(document).toMatch(/^- command: `skillopt run session --yes`$/m);
    expect(document).toMatch(/^- next, from this directory: .*ANTHROPIC_API_KEY/m);
    const kept = finishedKeys(own);
    expect(kept.length).toBeGreaterThan(10);
    const before = own.server.asked.length;
    const json = await own.run(['run', 'session', '--json']);
    expect(jsonOf(json)).toMatchObject({
      error: { code: 'auth', what: 'the key was refused (401)' },
      report: {
        directory: 'session',
        command: 'skillopt run session --json',
        failure: { what: 'the key was refused (401)', fix: expect.stringContaining('ANTHROPIC_API_KEY') },
      },
    });
    const again = await own.run(['run', 'session']);
    expectFailure(again, fault);
    expect(finishedKeys(own)).toEqual(kept);
    expect(own.server.asked.length - before).toBeLessThanOrEqual(8); // in both, one for each worker at most

    expectFailure(await own.run(['run', 'session'], { ANTHROPIC_API_KEY: '' }), {
      code: 4,
      what: /ANTHROPIC_API_KEY, which holds the key, is not set/,
      where: /anthropic/,
      fix: /ANTHROPIC_API_KEY/,
    });
    const mark = own.server.asked.length;
    await own.succeed(['run', 'session', '--finalize'], { ANTHROPIC_API_KEY: 'sk-ant-e2e-another-one-9876543210' });
    expect(await essence(own.place, 'session')).toEqual(whole);
    expect(performedAgain(own.events)).toEqual([]);
    const since = own.server.asked.slice(mark).filter((q) => q.model === 'target');
    expect(since).toHaveLength(finishedKeys(own).length - kept.length);
    await own.succeed(['verify', 'session']);
  });

  test('a server that is gone pauses; when it is back, the same command goes on and asks nothing again', async () => {
    const own = new QuizSession();
    const run = own.start(['run', 'session']);
    own.server.trouble = async () => {
      if (own.server.asked.length > 15) own.server.stop();
      return null;
    };
    const end = await run.ended;
    expectFailure(end, {
      code: 4,
      what: /^no connection/,
      where: /^openai-compatible\/\w+ at http:\/\/127\.0\.0\.1:\d+\/v1$/,
      fix: /server/,
    });
    expect(end.stdout).toMatch(/^paused +no connection/m);
    const kept = finishedKeys(own);
    const dead = await own.run(['run', 'session']);
    expectFailure(dead, { code: 4, what: /no connection/, where: /openai-compatible/, fix: /start the server/ });

    own.server.trouble = () => null;
    own.server.start();
    await own.succeed(['run', 'session', '--finalize']);
    expect(kept.length).toBeGreaterThan(8);
    expect(performedAgain(own.events)).toEqual([]);
    expect(await essence(own.place, 'session')).toEqual(whole);
    await own.succeed(['verify', 'session']);
  });
});

describe.concurrent('killed', () => {
  test('in the middle of rollouts with four workers: the same result, and what finished is never asked again', async () => {
    const own = new QuizSession();
    const gate = Promise.withResolvers<void>();
    let held = 0;
    own.server.trouble = async () => {
      if (own.server.asked.length <= 20) return null;
      held += 1;
      await gate.promise;
      return null;
    };
    const run = own.start(['run', 'session', '--finalize']);
    await until('workers wait for an answer', () => held > 0);
    run.kill('SIGKILL');
    await run.ended;
    gate.resolve();
    own.server.trouble = () => null;
    const kept = finishedKeys(own);
    expect(kept.length).toBeGreaterThan(10);
    const mark = own.server.asked.length;
    await own.succeed(['run', 'session', '--finalize']);
    expect(await essence(own.place, 'session')).toEqual(whole);
    expect(performedAgain(own.events)).toEqual([]);
    const since = own.server.asked.slice(mark).filter((q) => q.model === 'target');
    expect(since).toHaveLength(finishedKeys(own).length - kept.length);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    await own.succeed(['verify', 'session']);
  });

  test('in the middle of a reflection: it is held again from its beginning, and nothing else', async () => {
    const own = new QuizSession();
    const gate = Promise.withResolvers<void>();
    let held = 0;
    own.server.trouble = async (q) => {
      if (q.model === 'target' || q.turns.length < 5) return null;
      held += 1;
      await gate.promise;
      return null;
    };
    const run = own.start(['run', 'session', '--finalize']);
    await until('the optimizer has read', () => held > 0);
    run.kill('SIGKILL');
    await run.ended;
    gate.resolve();
    own.server.trouble = () => null;
    const kept = finishedKeys(own);
    const mark = own.server.asked.length;
    await own.succeed(['run', 'session', '--finalize']);
    expect(await essence(own.place, 'session')).toEqual(whole);
    // the one that was cut is counted too; what it has spent is not known
    const status = jsonOf(await own.succeed(['status', 'session', '--json']));
    expect(status).toMatchObject({ optimizer: { requests: own.asked('optimizer').length }, uncounted: 1 });
    expect(own.server.asked[mark]).toMatchObject({ model: 'optimizer' });
    expect(own.server.asked[mark]?.turns).toHaveLength(1);
    expect(own.server.asked.slice(mark).filter((q) => q.model === 'target')).toHaveLength(
      finishedKeys(own).length - kept.length,
    );
    await own.succeed(['verify', 'session']);
  });
});
