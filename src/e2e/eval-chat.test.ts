import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { type Ended, expectFailure, jsonOf, removePlaces } from './binary.ts';
import { type EvalJson, evalEvents } from './evals.ts';
import { refusal } from './model-server.ts';
import { writeFiles } from './own-pack.ts';
import { bestSkill, lines, QuizSession, seedSkill, splits } from './quiz.ts';
import { performedAgain } from './sessions.ts';
import { TidesSession, tasks as tidesTasks } from './tides.ts';

afterAll(removePlaces);

const json = (end: Ended): EvalJson => jsonOf(end) as unknown as EvalJson;
const tasks = Object.values(splits).flat().length;
const sums = Object.values(splits)
  .flat()
  .filter((id) => id.startsWith('sum-')).length;
const key = 'sk-ant-e2e-0123456789abcdefghij';

/** `eval` of the quiz on its server, from beside skill and pack. */
const quizEval = (own: QuizSession) => [
  'eval',
  '--skill',
  'quiz',
  '--pack',
  'pack',
  '--model',
  'openai-compatible/target',
  '--base-url',
  own.server.url,
  '--key-env',
  'none',
];
const dir = 'skillopt-eval-quiz';

describe('a prompt pack on a local server', () => {
  test('the backend follows from the pack; tokens, turns and reading stand beside the score', async () => {
    const own = new QuizSession();
    writeFiles(own.place.dir, {
      'quiz/SKILL.md': `${seedSkill}${lines.form}\n`,
      'best/SKILL.md': bestSkill,
    });
    const end = await own.succeed([...quizEval(own), '--no-skill', '--vs', 'best', '--json']);
    const report = json(end);
    expect(report.headline).toBe(
      `with it ${sums} of ${tasks}, without it 0 of ${tasks}, with best ${tasks} of ${tasks}`,
    );
    const [skill, none, other] = report.arms;
    for (const arm of [skill, none, other]) expect(arm).toMatchObject({ costUsd: null, turns: tasks });
    expect([skill?.read, none?.read]).toEqual([
      [tasks, tasks],
      [0, 0],
    ]);
    const asked = report.preflight.tokens ?? 0;
    const spent = asked + (skill?.tokens ?? 0) + (none?.tokens ?? 0) + (other?.tokens ?? 0);
    expect(spent).toBe(own.server.tokens.input + own.server.tokens.output);
    expect(none?.tokens).toBeLessThan(skill?.tokens ?? 0);
    expect(own.server.asked).toHaveLength(3 * tasks);
    expect(report.comparisons).toMatchObject([
      { against: 'no-skill', wins: sums, losses: 0 },
      { against: 'other', wins: 0, losses: tasks - sums },
    ]);
    expect(own.place.read(dir, 'skillopt-eval.md')).toMatch(/^spent .* · cost unknown · \d+ tokens/m);
    await own.succeed(['verify', dir]);
    const again = await own.succeed([...quizEval(own), '--no-skill', '--vs', 'best', '--json']);
    expect(json(again).headline).toBe(report.headline);
    expect(own.server.asked).toHaveLength(3 * tasks);
  });

  test('with a price it tells what it cost, and no key stands in its files', async () => {
    const own = new QuizSession({ provider: 'anthropic', env: { ANTHROPIC_API_KEY: key } });
    const args = ['eval', '--skill', 'quiz', '--pack', 'pack', '--base-url', own.server.url];
    const end = await own.succeed([...args, '--model', 'anthropic/claude-opus-4-8', '--limit', '4', '--yes']);
    expect(end.stdout).toMatch(/^result +with it 0 of 4$/m);
    expect(end.stdout).toMatch(/^spent +4 rollouts, 1 preflight call · \$0\.\d+ · \d+ tokens · /m);
    expect(end.stdout).toMatch(/^next +add --no-skill/m);
    expect(end.stdout + end.stderr).not.toContain(key);
    const files = readdirSync(own.place.path(dir), { recursive: true, encoding: 'utf8', withFileTypes: true });
    const holds = files.filter((f) => f.isFile() && readFileSync(`${f.parentPath}/${f.name}`, 'latin1').includes(key));
    expect(holds).toEqual([]);
  });

  test('--set adds to the model of the flags, whichever names which part', async () => {
    const own = new QuizSession();
    const args = ['eval', '--skill', 'quiz', '--pack', 'pack', '--limit', '1'];
    const url = own.server.url;
    const name = 'openai-compatible/target';
    const set = (...pairs: string[]) => pairs.flatMap((pair) => ['--set', pair]);
    for (const [i, flags] of [
      ['--model', name, '--base-url', url, '--key-env', 'none', ...set('model.temperature=0.5')],
      ['--model', name, ...set(`model.baseUrl=${url}`, 'model.keyEnv=null', 'model.temperature=0.5')],
      ['--base-url', url, ...set(`model=${name}`, 'model.keyEnv=null', 'model.temperature=0.5')],
    ].entries()) {
      await own.succeed([...args, ...flags, '--out', `out-${i}`]);
      const [created] = evalEvents(own.place, `out-${i}`);
      expect(created?.config).toMatchObject({ model: { model: name, baseUrl: url, keyEnv: null, temperature: 0.5 } });
    }
  });

  test('a skill that stands in every request can’t be told to have been opened', async () => {
    const own = new QuizSession();
    const prompts = ['one', 'two'].map((id) => ({
      id,
      prompt: `How much is 1 plus 1? (${id})`,
      checks: [{ contains: '2' }],
      ...(id === 'two' ? { should_trigger: false } : {}),
    }));
    writeFiles(own.place.dir, { 'pack/tasks.json': JSON.stringify({ version: 1, name: 'few', tasks: prompts }) });
    const end = await own.succeed([...quizEval(own), '--json']);
    expect(json(end).headline).toBe('with it 2 of 2');
    expect(json(end).notes).toContainEqual(
      '1 task should not open the skill; whether it was opened can’t be told here, so they count by their checks alone',
    );
  });

  test('a server that fails pauses it; the same command goes on', async () => {
    const own = new QuizSession();
    let left = 6;
    own.server.trouble = () => (left-- > 0 ? null : refusal(401, 'authentication_error', 'no such key'));
    const cut = await own.run([...quizEval(own), '--workers', '2', '--json']);
    expect({ code: cut.code, error: jsonOf(cut).error }).toMatchObject({ code: 4, error: { code: 'auth' } });
    own.server.trouble = () => null;
    const end = await own.succeed([...quizEval(own), '--workers', '2']);
    expect(end.stdout).toMatch(new RegExp(`^resumed +6 of ${tasks} attempts are done`, 'm'));
    expect(performedAgain(evalEvents(own.place, dir))).toEqual([]);
    await own.succeed(['verify', dir]);
  });

  test('a server that is not there is found before anything is spent, and nothing is left', async () => {
    const own = new QuizSession();
    own.server.stop();
    const end = await own.run(quizEval(own));
    expectFailure(end, { code: 4, what: /no connection/, where: /openai-compatible\/target/, fix: /start the server/ });
    expect(jsonOf(await own.run([...quizEval(own), '--json'])).error).toMatchObject({ code: 'preflight' });
    expect(readdirSync(own.place.dir).filter((n) => n.startsWith('skillopt'))).toEqual([]);
  });

  test('a limit on tokens pauses it with about what it takes', async () => {
    const own = new QuizSession();
    const end = await own.run([...quizEval(own), '--limit-tokens', '700', '--workers', '1']);
    expectFailure(end, {
      code: 2,
      what: /^the limit of 700 tokens is reached, with \d+ rollouts left$/,
      where: /^--limit-tokens$/,
      fix: /^raise it to about \d+ tokens /,
    });
    const enough = /raise it to about (\d+) tokens/.exec(end.stderr)?.[1] ?? '0';
    await own.succeed([...quizEval(own), '--limit-tokens', String(2 * Number(enough)), '--workers', '1']);
    await own.succeed(['verify', dir]);
  });
});

test('where a session optimizes the description, opening is what is measured', async () => {
  const own = new TidesSession();
  const seed = json(await own.succeed(['eval', 'session', '--json']));
  expect(seed.headline).toBe('with it 2 of 8');
  expect(seed.arms[0]).toMatchObject({ read: [2, 8], keptShut: { shut: 2, told: 4, of: 4 } });
  expect(seed.notes.join('\n')).toContain('measured is the description');
  await own.succeed(['run', 'session']);
  expect((await own.succeed(['eval', 'session'])).stdout).toMatch(/^result +with it 8 of 8$/m);
  expectFailure(await own.run(['eval', 'session', '--no-skill', '--out', 'o']), {
    code: 2,
    what: /^the description is what is measured, /,
    where: /^--no-skill$/,
    fix: /--vs$/,
  });
  // outside of a session, by a key of the config
  const args = ['eval', '--skill', 'tides', '--pack', 'pack', '--model', 'openai-compatible/target'];
  const outside = [...args, '--base-url', own.server.url, '--set', 'optimize=description', '--json'];
  expect(json(await own.succeed(outside)).headline).toBe(`with it 6 of ${tidesTasks.length}`);
});

test('keys of the config are set by --set, by SkillOpt’s names and by variables; what says nothing to an eval is told', async () => {
  const own = new QuizSession();
  const model = JSON.stringify({ model: 'openai-compatible/target', baseUrl: own.server.url, keyEnv: null });
  const base = ['eval', '--skill', 'quiz', '--pack', 'pack', '--limit', '2'];
  const set = await own.succeed([...base, '--set', `model=${model}`, '--set', 'gate.rule=careful']);
  expect(set.stdout).toMatch(/^ignored +--set gate\.rule=careful: an eval has no use for it$/m);
  expect(set.stdout).toMatch(/^result +with it 0 of 2$/m);
  const env = { SKILLOPT_MODEL: model, SKILLOPT_SKILL: 'quiz', SKILLOPT_WORKERS: '1' };
  const byVariable = await own.succeed(['eval', '--pack', 'pack', '--limit', '2', '--out', 'variables'], env);
  expect(byVariable.stdout).toMatch(/ · 1 at a time$/m);
  const [first] = evalEvents(own.place, 'variables');
  expect(first).toMatchObject({ config: { workers: 1 }, environment: { model: 'openai-compatible/target' } });
  const seeds = await own.succeed([...base, '--set', `model=${model}`, '--set', 'seed=2', '--out', 'seeds']);
  expect(seeds.stdout).toMatch(/^note +2 of \d+ tasks, drawn by the seed 2/m);
  expectFailure(await own.run([...base, '--set', 'modle=x']), {
    code: 2,
    what: /^unknown key modle$/,
    where: /^--set modle=x$/,
    fix: /did you mean model\?/,
  });
});

test('in a session its model answers, and a flag names another one', async () => {
  const own = new QuizSession();
  const end = await own.succeed(['eval', 'session', '--split', 'selection', '--no-skill']);
  expect(end.stdout).toMatch(/^result +with it 0 of 6, without it 0 of 6$/m);
  expect(new Set(own.server.asked.map((q) => q.model))).toEqual(new Set(['target']));
  await own.succeed([
    'eval',
    'session',
    '--model',
    'openai-compatible/optimizer',
    '--base-url',
    own.server.url,
    '--out',
    'o',
  ]);
  expect(new Set(own.server.asked.map((q) => q.model))).toEqual(new Set(['target', 'optimizer']));
});
