import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { expectFailure, jsonOf, removePlaces } from './binary.ts';
import { type EvalJson, evalEvents, reportIn } from './evals.ts';
import { refusal } from './model-server.ts';
import { writeFiles } from './own-pack.ts';
import { bestSkill, QuizSession, splits } from './quiz.ts';

afterAll(removePlaces);

const dir = 'skillopt-eval-quiz';
const price = { input: 1, output: 5 };
const began = (own: QuizSession) => existsSync(own.place.path(dir));
const checks = (own: QuizSession) => evalEvents(own.place, dir).filter((e) => e.type === 'model.called');
const tasks = Object.values(splits).flat().length;

/** The quiz with and without its skill, on the server's target. */
function args(own: QuizSession, model: Readonly<Record<string, unknown>> = { price }): readonly string[] {
  const settings = { model: 'openai-compatible/target', baseUrl: own.server.url, ...model };
  return ['eval', '--skill', 'quiz', '--pack', 'pack', '--no-skill', '--set', `model=${JSON.stringify(settings)}`];
}

describe('what a new eval may cost', () => {
  test('is told before it begins; without a limit and without --yes nothing is asked or written', async () => {
    const own = new QuizSession();
    const end = await own.run(args(own));
    const all = 2 * tasks;
    expect(end.stdout).toMatch(
      new RegExp(
        `^estimate {4}${all} rollouts; what can’t be scored is tried up to twice more, so at most ${3 * all}$`,
        'm',
      ),
    );
    expect(end.stdout).toMatch(/^ {12}about [\d.]+ k to [\d.]+ k tokens · about \d+ s to \d+ (s|min)/m);
    expect(end.stdout).toMatch(/^ {12}about \S+ \S*.*\$\d\.\d\d$/m);
    expect(end.stdout).toMatch(/^ {12}if all are scored at the first try; tokens are estimated from characters/m);
    expectFailure(end, {
      code: 4,
      what: new RegExp(`^nothing bounds what this eval may spend: ${all} rollouts, about .*\\$\\d\\.\\d\\d$`),
      where: /^the command line$/,
      fix: /^give it a limit \(--limit-usd 1\), or begin it as it is with --yes$/,
    });
    expect(jsonOf(await own.run([...args(own), '--json']))).toMatchObject({ error: { code: 'preflight' } });
    expect([own.server.checked, own.server.asked, began(own)]).toEqual([[], [], false]);
  });

  test.each([
    ['--yes', ['--yes']],
    ['--limit-usd', ['--limit-usd', '5']],
    ['--limit-tokens', ['--limit-tokens', '9000000']],
    ['--limit-minutes', ['--limit-minutes', '60']],
  ])('%s begins it; the call before it is counted, and the estimate stands beside the result', async (_name, flags) => {
    const own = new QuizSession();
    const data = jsonOf(await own.succeed([...args(own), '--json', ...flags]));
    const all = 2 * tasks;
    expect(data).toMatchObject({ complete: true, preflight: { calls: 1 } });
    expect(data.estimate).toMatchObject({
      basis: 'round-trip',
      planned: all,
      rollouts: [all, all],
      most: 3 * all,
      roles: [{ role: 'target', model: 'openai-compatible/target', calls: [all, all] }],
    });
    const { usd, tokens } = data.estimate as { usd: [number, number]; tokens: [number, number] };
    const { preflight, arms } = data as unknown as EvalJson;
    const spent = (of: 'tokens' | 'costUsd') => arms.reduce((sum, a) => sum + (a[of] ?? 0), 0);
    const { input, output } = own.server.tokens;
    expect((preflight.tokens ?? 0) + spent('tokens')).toBe(input + output);
    expect((preflight.costUsd ?? 0) + spent('costUsd')).toBeCloseTo(
      (input * price.input + output * price.output) / 1e6,
    );
    expect(spent('costUsd')).toBeLessThan(usd[1]);
    expect(spent('tokens')).toBeGreaterThan(tokens[0] / 2);
    expect(spent('tokens')).toBeLessThan(tokens[1]);
    expect(checks(own)).toMatchObject([{ role: 'target', problem: null, preflight: true }]);
    await own.succeed(['verify', dir]);
  });

  test.each([
    ['a server on this machine without a key', {}, 'no price is known of openai-compatible/target, on this machine'],
    ['a price of 0', { price: { input: 0, output: 0 } }, 'no model cost'],
  ])('%s asks for nothing, and says what it costs', async (_name, model, cost) => {
    const own = new QuizSession();
    const end = await own.succeed(args(own, model));
    expect(end.stdout).toContain(`\n            ${cost}\n`);
    expect(end.stdout).toMatch(/^asked once {2}the target, openai-compatible\/target: \d+\.\d s, \d+ tokens$/m);
    expect(end.stdout).toMatch(new RegExp(`^spent +${2 * tasks} rollouts, 1 preflight call · `, 'm'));
    expect(own.server.checked).toHaveLength(1);
    // one that has finished is shown: nobody is asked
    await own.succeed(args(own, model));
    expect(own.server.checked).toHaveLength(1);
  });

  test('a price that nobody knows is no price of 0; a limit on rollouts bounds the estimate', async () => {
    const own = new QuizSession({ env: { QUIZ_KEY: 'quiz-0123456789abcdef' } });
    const end = await own.run([...args(own, { keyEnv: 'QUIZ_KEY' }), '--limit-rollouts', '5']);
    expect(end.stdout).toMatch(new RegExp(`^estimate {4}at most 5 of ${2 * tasks} rollouts, by its limit$`, 'm'));
    expectFailure(end, {
      code: 4,
      what: /: 5 rollouts, price unknown: openai-compatible\/target$/,
      where: /^the command line$/,
      fix: /--limit-tokens or --limit-minutes.*"price": \{"input": 0, "output": 0\}$/,
    });
  });

  test('a model that does not answer, or something else, is met before the first rollout', async () => {
    const own = new QuizSession();
    own.server.checkTrouble = () => refusal(401, 'authentication_error', 'no');
    expectFailure(await own.run(args(own, {})), {
      code: 4,
      what: /^the key was refused \(401\), when the target was asked for one word$/,
      where: /^openai-compatible\/target at http/,
      fix: /./,
    });
    expect([own.server.asked, began(own)]).toEqual([[], false]);
    own.server.checkTrouble = () => null;
    own.server.checkPlay = () => ({ text: 'Hello!' });
    const end = await own.succeed(args(own, {}));
    expect(end.stdout).toMatch(
      /^warning +openai-compatible\/target was asked for the word “\w+” and answered “Hello!”/m,
    );
  });
});

describe('an eval that stopped', () => {
  test('says where it failed first, in the report, the document and the JSON; going on tells what is left', async () => {
    const own = new QuizSession();
    const cut = () => (own.server.asked.length > 8 ? refusal(401, 'authentication_error', 'no') : null);
    own.server.trouble = cut;
    const flags = ['--workers', '1', '--yes'];
    const end = await own.run([...args(own), ...flags]);
    const failed = /^failed at {3}(task \S+: .*401.*) \(line \d+ of the log\)$/m;
    expect(end.code).toBe(4);
    expect(end.stdout).toMatch(failed);
    expect(end.stdout).toMatch(/^command {5}skillopt eval --skill quiz .*--yes$/m);
    const document = reportIn(own.place, dir);
    expect(document).toMatch(failed);
    expect(document).toMatch(/^command {5}skillopt eval /m);
    const [, fix = ''] = /^fix {4}(.*)$/m.exec(end.stderr) ?? [];
    expect(document).toContain(`next        ${fix}`);
    const data = jsonOf(await own.run([...args(own), ...flags, '--json'])) as {
      readonly error: { readonly code: string; readonly fix: string };
      readonly report: EvalJson & { readonly failure: { readonly fix: string } };
    };
    expect(data.error.code).toBe('auth');
    expect(data.report).toMatchObject({ complete: false, preflight: { calls: 2 }, failure: { fix: data.error.fix } });
    expect(data.report.failure.where).toMatch(/^task /);
    expect(data.report.command).toMatch(/^skillopt eval .* --yes --json$/);
    own.server.trouble = () => null;
    const again = await own.succeed([...args(own), '--no-skill', '--workers', '1']); // it was begun: no limit is asked for
    expect(again.stdout).toMatch(
      new RegExp(`^left {8}continuing costs about .*${2 * tasks - 8} rollouts, .* tokens, \\$\\d\\.\\d\\d$`, 'm'),
    );
    expect(again.stdout).not.toMatch(/^(estimate|failed at) /m);
    expect(checks(own)).toHaveLength(3);
    await own.succeed(['verify', dir]);
  });

  test('at a limit the limit is the point; one that its user stopped has none', async () => {
    const own = new QuizSession();
    const data = jsonOf(await own.run([...args(own, {}), '--limit-rollouts', '3', '--json'])) as {
      readonly report: EvalJson;
    };
    expect(data.report.failure).toMatchObject({
      where: '--limit-rollouts',
      what: expect.stringMatching(/^the limit of 3 rollouts is reached/),
      line: null,
    });
    const stopped = new QuizSession();
    let run: ReturnType<QuizSession['start']> | null = null;
    stopped.server.trouble = async () => {
      run?.kill('SIGINT');
      await Promise.resolve();
      return null;
    };
    run = stopped.start([...args(stopped, {}), '--workers', '1', '--json']);
    const end = await run.ended;
    expect([end.code, jsonOf(end)]).toMatchObject([130, { error: { code: 'interrupted' }, report: { failure: null } }]);
  });

  test('a secret in the command stands in no file', async () => {
    const secret = 'quiz-secret-0123456789';
    const own = new QuizSession({ env: { QUIZ_TOKEN: secret } });
    const end = await own.succeed([...args(own, {}), '--limit', '1', '--out', `o-${secret}`]);
    expect(end.stdout).toMatch(/^command {5}skillopt eval .* --out o-/m);
    for (const file of ['skillopt-eval.jsonl', 'skillopt-eval.md'])
      expect(own.place.read(`o-${secret}`, file)).not.toContain(secret);
  });
});

describe('--exit-code', () => {
  test('is 10 unless the skill wins against each other arm', async () => {
    const own = new QuizSession();
    expectFailure(await own.run(['eval', '--skill', 'quiz', '--pack', 'pack', '--exit-code']), {
      code: 2,
      what: /^--exit-code tells whether the skill wins, and there is nothing to compare it with$/,
      where: /^--exit-code$/,
      fix: /^add --no-skill or --vs, or leave it out$/,
    });
    expect((await own.run([...args(own, {}), '--exit-code'])).code).toBe(10); // the seed passes nothing
    expect((await own.run([...args(own, {}), '--exit-code'])).code).toBe(10); // shown again
    expect((await own.run(args(own, {}))).code).toBe(0);
    writeFiles(own.place.dir, { 'best/SKILL.md': bestSkill });
    const [best, quiz] = [args(own, {}).with(2, 'best'), args(own, {}).with(2, 'quiz')];
    expect((await own.run([...best, '--exit-code'])).code).toBe(0);
    const against = (other: string) => ['--vs', other, '--exit-code', '--out', `against-${other}`];
    expect((await own.run([...quiz, ...against('best')])).code).toBe(10);
    expect((await own.run([...best, ...against('quiz')])).code).toBe(0);
  });
});

describe('in a terminal', () => {
  test('one line asks, and anything but y, n or enter is asked again; enter begins it', async () => {
    const own = new QuizSession();
    await using terminal = own.inTerminal([...args(own)]);
    await terminal.waitFor('begin? [Y/n]');
    expect([own.server.checked, own.server.asked]).toEqual([[], []]);
    await terminal.type('what');
    await terminal.press('enter');
    await terminal.waitFor(/begin\? \[Y\/n\] what\s+begin\? \[Y\/n\]/);
    expect(own.server.checked).toEqual([]);
    await terminal.press('enter');
    expect((await terminal.ended).code).toBe(0);
    expect(await terminal.history()).toMatch(/^result {6}with it /m);
    expect(own.server.checked).toHaveLength(1);
  });

  test.each(['n', 'ctrlC', 'ctrlD'] as const)('%s leaves it, and nothing was asked or written', async (key) => {
    const own = new QuizSession();
    await using terminal = own.inTerminal([...args(own)]);
    await terminal.waitFor('begin? [Y/n]');
    if (key === 'n') {
      await terminal.type('n');
      await terminal.press('enter');
    } else await terminal.press(key);
    expect((await terminal.ended).code).toBe(key === 'ctrlC' ? 130 : 0);
    expect(await terminal.history()).toMatch(key === 'ctrlC' ? /^ended /m : /^left +nothing was begun/m);
    expect([own.server.checked, own.server.asked, began(own)]).toEqual([[], [], false]);
  });

  test('what costs nothing, and --yes, begin without a question', async () => {
    for (const [model, flags] of [
      [{}, []],
      [{ price }, ['--yes']],
    ] as const) {
      const own = new QuizSession();
      await using terminal = own.inTerminal([...args(own, model), ...flags]);
      expect((await terminal.ended).code).toBe(0);
      expect(await terminal.history()).not.toContain('[Y/n]');
    }
  });
});
