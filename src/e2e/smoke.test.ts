import { afterAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { expectFailure, jsonOf, removePlaces } from './binary.ts';
import { refusal } from './model-server.ts';
import { hashOf, writeFiles } from './own-pack.ts';
import { QuizSession, splits, target, taskOf } from './quiz.ts';
import { TidesSession, tasks as tides } from './tides.ts';

afterAll(removePlaces);

const price = { input: 1, output: 5 };
const FOLDER = 'session/skillopt.smoke';
const askedFor = (own: QuizSession) => new Set(own.asked('target').map(taskOf));

type Range = readonly [number, number];
type Told = {
  readonly smoke: Record<string, unknown>;
  readonly from: string;
  readonly splits: Record<string, readonly string[]>;
  readonly job: {
    readonly planned: number;
    readonly rollouts: Range;
    readonly usd: Range;
    readonly tokens: Range;
    readonly basis: string;
  };
};

test('a smoke test asks no task of the sealed test, says that it is none but that, and tells what the job would cost', async () => {
  const own = new QuizSession({ model: { price } });
  const sources = hashOf(own.place.path('quiz')) + hashOf(own.place.path('pack'));
  const end = await own.succeed(['run', 'session', '--smoke', '--yes']);
  expect(end.stdout).toMatch(
    /^smoke {7}a smoke test on tasks of the job’s train and selection, 2 a split and 1 step: /m,
  );
  expect(end.stdout).toMatch(/^worked {6}\d+ of \d+ rollouts scored, \d+ reflections? with \d+ edits?, 1 gate/m);
  expect(end.stdout).toMatch(
    /^whole job {3}at most 137 rollouts: 100 of the budget, 12 of the sealed test, 25 run ahead$/m,
  );
  expect(end.stdout).toMatch(/^target {6}openai-compatible\/target: .* calls, about .* tokens, about \$/m);
  expect(end.stdout).toMatch(/^optimizer {3}openai-compatible\/optimizer: .* calls, about .* tokens, about \$/m);
  expect(end.stdout).toMatch(/^next {8}skillopt run session {3}\(the whole job: about \$\d\.\d\d to \$\d\.\d\d\)$/m);
  expect(end.stdout).not.toMatch(/^result |finalize/m);
  expect([...askedFor(own)].filter((id) => splits.test.includes(id as never))).toEqual([]);
  expect(askedFor(own).size).toBe(4);
  expect(hashOf(own.place.path('quiz')) + hashOf(own.place.path('pack'))).toBe(sources);
  expect(existsSync(own.place.path('session/skillopt.jsonl'))).toBe(false);
  await own.succeed(['verify', FOLDER]);

  // the job itself: its own session, and no dearer than told
  const before = own.server.tokens.input + own.server.tokens.output;
  const told = jsonOf(await own.succeed(['run', 'session', '--smoke', '--yes', '--json'])) as unknown as Told;
  const smokes = own.server.tokens.input + own.server.tokens.output;
  expect(told).toMatchObject({ from: 'train and selection', smoke: { steps: 1 }, job: { basis: 'measured' } });
  expect(told.smoke.tokens).toBe(smokes - before);
  const job = jsonOf(await own.succeed(['run', 'session', '--finalize', '--yes', '--json']));
  expect(job).toMatchObject({ result: 'improved', phase: 'finished' });
  expect(Number(job.costUsd)).toBeLessThan(told.job.usd[1]);
  expect(Number(job.tokens)).toBeLessThan(told.job.tokens[1]);
});

test('with six tasks in train it takes those alone; of a job that has begun, those that its log has', async () => {
  const [first, second, third, ...rest] = [...splits.selection];
  const config = {
    splits: { ...splits, train: [...splits.train, first, second, third], selection: rest },
    taskLimit: null,
  };
  const own = new QuizSession({ config });
  await own.succeed(['run', 'session']);
  own.server.asked.length = 0;
  const smoke = ['run', 'session', '--smoke', '--json', '--budget', '61', '--set', 'reflection.form=one-shot'];
  const told = jsonOf(await own.succeed(smoke)) as unknown as Told;
  expect(told.from).toBe('train');
  expect(told.job.planned).toBe(61);
  expect(own.asked('optimizer').flatMap((q) => q.tools)).toEqual([]);
  expect(Object.values(told.splits).flat().toSorted()).toHaveLength(6);
  for (const id of [...Object.values(told.splits).flat(), ...askedFor(own)])
    expect(config.splits.train).toContain(id as never);
  const status = jsonOf(await own.succeed(['status', 'session', '--json']));
  expect(status).toMatchObject({ phase: 'searched' });
});

test('of a description, too: prompts of both kinds in each of its splits', async () => {
  const own = new TidesSession();
  const told = jsonOf(await own.succeed(['run', 'session', '--smoke', '--json'])) as unknown as Told;
  expect(told).toMatchObject({ from: 'train', smoke: { optimizes: 'description', steps: 1 } });
  for (const ids of Object.values(told.splits))
    expect(ids.map((id) => tides.find((t) => t.id === id)?.should_trigger).toSorted()).toEqual([false, true]);
});

test('a job with too few tasks beside its sealed test is refused, and the test stays untouched', async () => {
  const own = new QuizSession({
    config: { splits: { train: splits.train.slice(0, 2), selection: splits.selection.slice(0, 2), test: splits.test } },
  });
  expectFailure(await own.run(['run', 'session', '--smoke']), {
    code: 3,
    what: /^a smoke test needs 6 tasks of its own, two a split, and train and selection have 4; the tasks of the sealed test are not touched$/,
    where: /^splits$/,
    fix: /add tasks/,
  });
  expect([own.server.checked, own.server.asked]).toEqual([[], []]);
});

test('it is begun anew each time; a folder of that name that is none is left alone', async () => {
  const own = new QuizSession();
  writeFiles(own.place.dir, { [`${FOLDER}/notes.txt`]: 'mine' });
  expectFailure(await own.run(['run', 'session', '--smoke']), {
    code: 5,
    what: /^the folder of the smoke test holds something else$/,
    where: /skillopt\.smoke$/,
    fix: /^move it away/,
  });
  expect(own.place.read(FOLDER, 'notes.txt')).toBe('mine');
  await Bun.file(own.place.path(FOLDER, 'notes.txt')).delete();
  await own.succeed(['run', 'session', '--smoke']);
  const [{ session: one } = { session: '' }] = own.place.events(FOLDER);
  writeFiles(own.place.dir, { [`${FOLDER}/notes.txt`]: 'mine' });
  await own.succeed(['run', 'session', '--smoke']);
  const [{ session: two } = { session: '' }] = own.place.events(FOLDER);
  expect(two).not.toBe(one);
  expect(own.place.read(FOLDER, 'notes.txt')).toBe('mine');
});

test('what costs something needs a limit or --yes here, too, and what fails is told with its fix', async () => {
  const own = new QuizSession({ model: { price } });
  expectFailure(await own.run(['run', 'session', '--smoke']), {
    code: 4,
    what: /^nothing bounds what this session may spend: at most 30 rollouts/,
    where: /^limits$/,
    fix: /--limit-usd \d+/,
  });
  own.server.trouble = (q) => (q.model === 'optimizer' ? refusal(402, 'billing_error', 'no credit') : null);
  const cut = await own.run(['run', 'session', '--smoke', '--limit-usd', '9']);
  expectFailure(cut, { code: 4, what: /^the account has no credit left/, where: /optimizer/, fix: /^add credit/ });
  expect(cut.stdout).not.toContain('whole job');
  for (const flag of ['--finalize', '--exit-code'])
    expectFailure(await own.run(['run', 'session', '--smoke', flag]), {
      code: 2,
      what: /^a smoke test has no result/,
      where: /^the command line$/,
      fix: /^leave it out$/,
    });
});

test('an optimizer that hands nothing in is said to be broken, with what mends it and an exit code', async () => {
  const own = new QuizSession({ play: (q) => (q.model === 'target' ? target(q) : { text: 'I would rather not.' }) });
  const end = await own.run(['run', 'session', '--smoke']);
  expect(end.code).toBe(4);
  expect(end.stdout).toMatch(/^broken {6}not all of it works: mend it before the whole job$/m);
  expect(end.stdout).toMatch(/^failed at {3}the reflection of round 1: /m);
  expect(end.stdout).toMatch(/^next {8}use another optimizer model, .*; then skillopt run session --smoke$/m);
  const json = await own.run(['run', 'session', '--smoke', '--json']);
  expect([json.code, jsonOf(json).works]).toEqual([4, false]);
});

test('in a terminal it asks like any other, and tells the same at its end', async () => {
  const own = new QuizSession({ model: { price } });
  await using terminal = own.inTerminal(['run', 'session', '--smoke']);
  expect(await terminal.waitFor('[enter] begin')).toMatch(/at most 30 rollouts/);
  expect(own.server.checked).toEqual([]);
  await terminal.press('enter');
  expect((await terminal.ended).code).toBe(0);
  expect(await terminal.history()).toMatch(/^whole job {3}at most 137 rollouts/m);
});
