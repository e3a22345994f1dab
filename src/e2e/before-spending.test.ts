import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { expectFailure, jsonOf, removePlaces } from './binary.ts';
import { type Question, refusal, repeatsTheWord } from './model-server.ts';
import { QuizSession } from './quiz.ts';

afterAll(removePlaces);

const price = { input: 1, output: 5 };
const began = (own: QuizSession) => existsSync(own.place.path('session/skillopt.jsonl'));
const warningsOf = (own: QuizSession) => own.events.flatMap((e) => (e.type === 'warning.raised' ? [e.what] : []));
const checks = (own: QuizSession) => own.events.filter((e) => e.type === 'model.called' && e.preflight === true);

describe('what a new session may cost', () => {
  test('is told before it begins; without a limit and without --yes nothing is asked, with the smallest fix', async () => {
    const own = new QuizSession({ model: { price } });
    const end = await own.run(['run', 'session', '--finalize']);
    expect(end.stdout).toMatch(
      /^estimate {4}at most 137 rollouts: 100 of the budget, 12 of the sealed test, 25 run ahead$/m,
    );
    expect(end.stdout).toMatch(
      /^ {12}about 15 to 75 reflections, in \d+ to \d+ calls of openai-compatible\/optimizer$/m,
    );
    expect(end.stdout).toMatch(/^ {12}about [\d.]+ k to [\d.]+ (k|million) tokens · about \d+ (s|min) to /m);
    expect(end.stdout).toMatch(/^ {12}about \$\d\.\d\d to \$\d\.\d\d$/m);
    expectFailure(end, {
      code: 4,
      what: /^nothing bounds what this session may spend: at most 137 rollouts, about \$\d\.\d\d to \$\d\.\d\d$/,
      where: /^limits$/,
      fix: /^give it a limit \(--limit-usd \d+, or "limits" in the config\), or begin it as it is with --yes$/,
    });
    const json = await own.run(['run', 'session', '--json']);
    expect([json.code, jsonOf(json)]).toMatchObject([4, { error: { code: 'preflight', where: 'limits' } }]);
    expect([own.server.checked, own.server.asked, began(own)]).toEqual([[], [], false]);
  });

  test.each([
    ['--yes', ['--yes'], {}],
    ['--limit-usd', ['--limit-usd', '50'], {}],
    ['--limit-tokens', ['--limit-tokens', '9000000'], {}],
    ['limits.minutes', [], { limits: { rollouts: null, minutes: 60 } }],
  ])('%s begins it, and the estimate stands beside the result', async (_name, flags, config) => {
    const own = new QuizSession({ model: { price }, config });
    const data = jsonOf(await own.succeed(['run', 'session', '--json', ...flags]));
    expect(data).toMatchObject({ result: 'improved', preflightCalls: 2 });
    const estimate = data.estimate as { usd: [number, number]; roles: readonly Record<string, unknown>[] };
    expect(estimate).toMatchObject({ basis: 'round-trip', planned: 100, rollouts: [90, 125], reflections: [15, 75] });
    expect(Number(data.costUsd)).toBeLessThan(estimate.usd[1]);
    expect(estimate.roles.map((r) => `${r.role} ${r.model}`)).toEqual([
      'target openai-compatible/target',
      'optimizer openai-compatible/optimizer',
    ]);
  });

  test.each([
    ['a price of 0', { model: { price: { input: 0, output: 0 } } }, 'no model cost'],
    [
      'a server on this machine without a key',
      {},
      'no price is known of openai-compatible/target, openai-compatible/optimizer, on this machine',
    ],
  ])('%s asks for nothing, and says what it costs', async (_name, options, cost) => {
    const end = await new QuizSession(options).succeed(['run', 'session']);
    expect(end.stdout).toContain(`\n            ${cost}\n`);
  });

  test('a price that nobody knows is no price of 0', async () => {
    const own = new QuizSession({ model: { keyEnv: 'QUIZ_KEY' }, env: { QUIZ_KEY: 'quiz-0123456789abcdef' } });
    expectFailure(await own.run(['run', 'session']), {
      code: 4,
      what: /price unknown: openai-compatible\/target, openai-compatible\/optimizer$/,
      where: /^limits$/,
      fix: /--limit-tokens or --limit-minutes.*"price": \{"input": 0, "output": 0\}$/,
    });
  });
});

describe('each model is asked once before the work begins', () => {
  test('what that spends is counted; a session that is over asks nobody, one that is finalized its target alone', async () => {
    const own = new QuizSession({ model: { price } });
    const run = await own.succeed(['run', 'session', '--yes']);
    expect(run.stdout).toMatch(
      /^asked once {2}the target, openai-compatible\/target: \d+\.\d s, \d+ tokens, \$0\.\d+$/m,
    );
    expect(run.stdout).toMatch(/^spent +\d+ rollouts .*, 2 preflight calls and 6 calls of the optimizer’s model/m);
    expect(checks(own)).toMatchObject([
      { role: 'target', model: 'openai-compatible/target', problem: null },
      { role: 'optimizer', model: 'openai-compatible/optimizer', problem: null },
    ]);
    const { input, output } = own.server.tokens;
    const status = jsonOf(await own.succeed(['status', 'session', '--json']));
    expect(status).toMatchObject({ tokens: input + output, preflightCalls: 2, optimizer: { requests: 6 } });
    await own.succeed(['run', 'session']);
    expect(own.server.checked).toHaveLength(2);
    await own.succeed(['finalize', 'session']);
    expect(own.server.checked.map((q) => q.model)).toEqual(['target', 'optimizer', 'target']);
    await own.succeed(['finalize', 'session']);
    expect(own.server.checked).toHaveLength(3);
    await own.succeed(['verify', 'session']);
  });

  const page = () => new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } });
  test.each([
    [
      'a refused key',
      4,
      () => refusal(401, 'authentication_error', 'no'),
      /^the key was refused \(401\), when the target/,
    ],
    ['an unknown model', 2, () => refusal(404, 'not_found_error', 'no'), /^there is no such model \(404\)/],
    ['a web page', 2, page, /^a web page came in place of an answer, when the target was asked for one word$/],
  ])('%s ends it before it begins', async (_name, code, trouble, what) => {
    const own = new QuizSession();
    own.server.checkTrouble = (q) => (q.model === 'target' ? trouble() : null);
    const end = await own.run(['run', 'session']);
    expectFailure(end, { code, what, where: /^openai-compatible\/target at http/, fix: /./ });
    expect([own.server.asked, began(own)]).toEqual([[], false]);
  });

  test('an empty answer ends it, too', async () => {
    const own = new QuizSession({ optimizer: { tools: false } });
    own.server.checkPlay = (q) => (q.model === 'optimizer' ? { text: '' } : repeatsTheWord(q));
    expectFailure(await own.run(['run', 'session']), {
      code: 4,
      what: /^the optimizer was asked for one word and answered nothing$/,
      where: /^openai-compatible\/optimizer$/,
      fix: /maxOutputTokens/,
    });
    expect(began(own)).toBe(false);
  });

  test('another answer is a warning that shows the beginning of it, without secrets', async () => {
    const secret = 'quiz-secret-0123456789';
    const own = new QuizSession({ env: { QUIZ_TOKEN: secret } });
    own.server.checkPlay = (q) =>
      q.model === 'target' ? { text: `I am ${secret}\n${'so weak '.repeat(40)}` } : repeatsTheWord(q);
    await own.succeed(['run', 'session']);
    const [said] = warningsOf(own).filter((w) => String(w).includes('asked for the word'));
    expect(String(said)).toMatch(
      /^openai-compatible\/target was asked for the word “\w+” and answered “I am \S.*so weak.*…”: it can be reached, but may not do what it is told$/,
    );
    expect(String(said)).not.toContain(secret);
    expect(String(said).length).toBeLessThan(300);
  });

  test.each([
    ['answers in words', (q: Question) => (q.tools.length > 0 ? { text: 'Sure!' } : repeatsTheWord(q)), () => null],
    [
      'whose server takes no tools',
      repeatsTheWord,
      (q: Question) => (q.tools.length > 0 ? refusal(400, 'invalid_request_error', 'tools are not supported') : null),
    ],
  ])(
    'an optimizer that %s is shown a digest in place of tools, and the session says so',
    async (_name, play, trouble) => {
      const own = new QuizSession();
      own.server.checkPlay = play;
      own.server.checkTrouble = trouble;
      const end = await own.succeed(['run', 'session']);
      expect(end.stdout).toMatch(
        /^warning +openai-compatible\/optimizer does not call the tool .*reflection\.form: one-shot/m,
      );
      expect(own.asked('optimizer').map((q) => q.tools)).toEqual([[], []]);
      expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({ result: 'improved' });
    },
  );

  test('with reflection.form: tools it reads by tools all the same', async () => {
    const own = new QuizSession({ config: { reflection: { form: 'tools', maxCalls: 8 } } });
    own.server.checkPlay = (q) => (q.tools.length > 0 ? { text: 'Sure!' } : repeatsTheWord(q));
    await own.succeed(['run', 'session']);
    expect(warningsOf(own).join('\n')).toMatch(/answered in text and did not call the tool/);
    expect(own.asked('optimizer').every((q) => q.tools.length > 0)).toBe(true);
  });
});

test('a session that was cut tells what is left, by what it took so far', async () => {
  const own = new QuizSession({ model: { price } });
  own.server.trouble = () => (own.server.asked.length > 12 ? refusal(401, 'authentication_error', 'no') : null);
  expect((await own.run(['run', 'session', '--yes'])).code).toBe(4);
  own.server.trouble = () => null;
  const left = /^left {8}continuing costs at most about \S+ \S+, \d+ rollouts, [\d.]+ k tokens, \$\d+\.\d\d$/m;
  expect((await own.succeed(['status', 'session'])).stdout).toMatch(left);
  expect((await own.succeed(['run', 'session'])).stdout).toMatch(left);
  expect(own.server.checked).toHaveLength(4);
});

describe('in a terminal', () => {
  test.each([
    [80, 24],
    [50, 15],
  ])('at %i×%i the estimate is shown and one key begins it; before that nothing is asked', async (columns, rows) => {
    const own = new QuizSession({ model: { price } });
    await using terminal = own.inTerminal(['run', 'session'], { columns, rows });
    const shown = await terminal.waitFor('[enter] begin');
    expect(shown).toContain('before anything is spent');
    expect(shown).toMatch(/at most 125 rollouts/);
    expect(shown).toMatch(/about \$\d\.\d\d to \$\d\.\d\d/);
    await terminal.type('x'); // no answer
    expect([own.server.checked, own.server.asked]).toEqual([[], []]);
    await terminal.press('enter');
    expect((await terminal.ended).code).toBe(0);
    expect(await terminal.history()).toMatch(/^result {6}confirmed on selection/m);
    expect(own.server.checked).toHaveLength(2);
  });

  test.each(['q', 'esc', 'ctrlC'] as const)('%s leaves, and nothing was asked or begun', async (key) => {
    const own = new QuizSession({ model: { price } });
    await using terminal = own.inTerminal(['run', 'session']);
    await terminal.waitFor('[enter] begin');
    await (key === 'q' ? terminal.type(key) : terminal.press(key));
    expect((await terminal.ended).code).toBe(0);
    expect(await terminal.history()).toMatch(/nothing was begun, and nothing was asked or paid/);
    expect([own.server.checked, own.server.asked, began(own)]).toEqual([[], [], false]);
  });

  test('what costs nothing begins without a question', async () => {
    const own = new QuizSession();
    await using terminal = own.inTerminal(['run', 'session']);
    expect((await terminal.ended).code).toBe(0);
    expect(own.server.checked).toHaveLength(2);
  });
});
