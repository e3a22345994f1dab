import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expectFailure, Place, removePlaces, until } from './binary.ts';
import { OwnSession, splits, undisturbed } from './own-pack.ts';
import { essence, finishedDemo, performedAgain } from './sessions.ts';

afterAll(removePlaces);

const demo = 'skillopt-demo';
const rollouts = (place: Place, session: string) =>
  place.events(session).filter((e) => e.type === 'rollout.finished').length;

/** A session at work: its selection tasks are waiting in their verifiers. */
async function atWork(config: Readonly<Record<string, unknown>> = {}) {
  const own = new OwnSession(new Place(), { config });
  own.block(splits.selection);
  const run = own.start(['run', 'session']);
  await until('the first rollouts are at work', () => own.waiting() === splits.selection.length);
  return { own, place: own.place, run };
}

/** A session that was stopped while its first rollouts were at work. */
async function stopped(config: Readonly<Record<string, unknown>> = {}) {
  const { own, place, run } = await atWork(config);
  run.kill('SIGTERM');
  expect((await run.ended).code).toBe(130);
  own.free();
  return { own, place };
}

/** A session that was stopped after its first rollout had finished. */
async function stoppedMeasured() {
  const own = new OwnSession(new Place());
  const { place } = own;
  const [, ...others] = splits.selection;
  own.block(others);
  const run = own.start(['run', 'session']);
  const measured = () => own.waiting() === others.length && rollouts(place, 'session') > 0;
  await until('a rollout has finished and others are at work', measured);
  run.kill('SIGTERM');
  expect((await run.ended).code).toBe(130);
  own.free();
  return { own, place };
}

describe('a second process in the same session', () => {
  test('is refused and names the owner; the first is not disturbed', async () => {
    const { own, place, run } = await atWork();
    const before = place.read('session/skillopt.jsonl');
    expectFailure(await own.run(['run', 'session']), {
      code: 5,
      what: new RegExp(`^another process is at work in this session \\(process ${run.pid}, since 20`),
      where: /\/work\/session\/\.skillopt\/lock\.db$/,
      fix: /^wait for it, or stop it/,
    });
    expect((await own.run(['status', 'session'])).code).toBe(0);
    expect((await own.run(['verify', 'session'])).code).toBe(0);
    expect(place.read('session/skillopt.jsonl')).toBe(before);
    own.free();
    expect((await run.ended).code).toBe(0);
    expect(await essence(place, 'session')).toEqual(await undisturbed());
  });

  test('takes over when the first was killed, and ends what that one left running', async () => {
    const { own, place, run } = await atWork();
    run.kill('SIGKILL');
    await run.ended;
    expect(place.leftovers('session')).not.toEqual([]);
    const next = own.start(['run', 'session']);
    await until('the next one goes on', () => next.over() || next.stdout().includes('resumed '));
    own.free();
    const end = await next.ended;
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('swept       process ');
    expect(end.stdout).toContain('swept       folder ');
    expect(place.leftovers('session')).toEqual([]);
    expect(await essence(place, 'session')).toEqual(await undisturbed());
    await own.succeed(['verify', 'session']);
  });

  test('demo --fresh does not take the files of one at work away', async () => {
    const place = new Place();
    const run = place.start(['demo']);
    await until('the demo is at work', () => place.lines(demo) >= 20);
    const fresh = await place.run(['demo', '--fresh']);
    expect({ first: (await run.ended).code, fresh: fresh.code }).toEqual({ first: 0, fresh: 5 });
    expect(await essence(place, demo)).toEqual(await essence((await finishedDemo()).place, demo));
  });
});

test('demo --fresh leaves the session of a user alone, also one whose config is gone', async () => {
  const { place } = await stopped();
  rmSync(place.path('session/skillopt.config.json'));
  const before = place.read('session/skillopt.jsonl');
  const end = await place.run(['demo', 'session', '--fresh']);
  expect([2, 5]).toContain(end.code ?? 0);
  expect(place.read('session/skillopt.jsonl')).toBe(before);
});

describe('a changed config', () => {
  test.each([
    ['model', { model: 'other' }],
    ['agent', { agent: 'oracle' }],
    ['seed', { seed: 2 }],
    ['gate.rule', { gate: { rule: 'careful' } }],
    ['splits.train', { splits: { ...splits, train: [...splits.train].reverse() } }],
  ])('of %s is another session: refused with the word fork, and nothing is written', async (key, more) => {
    const { own, place } = await stoppedMeasured();
    const before = place.read('session/skillopt.jsonl');
    own.configure(more);
    const end = await own.run(['run', 'session']);
    expectFailure(end, {
      code: 5,
      what: new RegExp(`^the config now describes another session: ${key.replace('.', '\\.')} \\(was `),
      where: /\/work\/session\/skillopt\.config\.json$/,
      fix: /\bfork\b/,
    });
    expect(place.read('session/skillopt.jsonl')).toBe(before);
    own.configure({});
    await own.succeed(['run', 'session']);
    expect(await essence(place, 'session')).toEqual(await undisturbed());
  });

  test('before anything was measured begins the session anew', async () => {
    const { own, place } = await stopped({ seed: 2 });
    const [first] = place.events('session');
    writeFileSync(place.path('session/best_skill.md'), 'mine\n');
    own.configure({});
    const end = await own.succeed(['run', 'session']);
    expect(end.stdout).toContain('nothing was measured yet, so the session begins anew: seed (was "2", is "1")\n');
    expect(place.events('session')[0]?.seq).toBe(1);
    expect(place.events('session')[0]).not.toEqual(first!);
    expect(readFileSync(place.path('session/best_skill.yours-1.md'), 'utf8')).toBe('mine\n');
    expect(await essence(place, 'session')).toEqual(await undisturbed());
    await own.succeed(['verify', 'session']);
  });

  test('of budget, limits and workers is taken over in place, and the session goes on', async () => {
    const { own, place } = await stopped({ budget: { rollouts: 12 }, limits: { rollouts: 40 } });
    own.configure({ workers: 2 });
    await own.succeed(['run', 'session']);
    const inputs = place.events('session').filter((e) => e.type === 'input.received');
    expect(inputs.map((e) => e.input)).toEqual([
      { kind: 'budget.changed', rollouts: 100 },
      { kind: 'limits.changed', limits: { rollouts: null, minutes: null } },
    ]);
    expect(await essence(place, 'session')).toEqual(await undisturbed());
    expect(place.read('session/skillopt.md')).toContain('budget 100 rollouts');
    await own.succeed(['verify', 'session']);
  });

  test('the session’s copies are its own: changed sources do not disturb it, a changed copy is refused', async () => {
    const { own, place } = await stopped();
    writeFileSync(place.path('pack/stamp-for-cy/instruction.md'), 'Do something else.\n');
    writeFileSync(place.path('post-office/SKILL.md'), 'no skill any more');
    const copy = place.path('session/.skillopt/pack/stamp-for-cy/instruction.md');
    const whole = readFileSync(copy);
    writeFileSync(copy, 'Do something else.\n');
    expectFailure(await own.run(['run', 'session']), {
      code: 5,
      what: /copy of the pack was changed/,
      where: /\.skillopt\/pack$/,
      fix: /\bfork\b/,
    });
    writeFileSync(copy, whole);
    await own.succeed(['run', 'session']);
    expect(await essence(place, 'session')).toEqual(await undisturbed());
  });

  test('a lost or changed copy of the skill’s own files is refused before anything is measured with it', async () => {
    const { own, place } = await stopped();
    const copy = place.path('session/.skillopt/skill');
    const before = place.read('session/skillopt.jsonl');
    renameSync(copy, place.path('aside'));
    const end = await own.run(['run', 'session']);
    expectFailure(end, { code: 5, what: /copy of the skill/, where: /\.skillopt\/skill/, fix: /restore/ });
    expect(place.read('session/skillopt.jsonl')).toBe(before);
    renameSync(place.path('aside'), copy);
    await own.succeed(['run', 'session']);
    expect(await essence(place, 'session')).toEqual(await undisturbed());
  });
});

describe('a derived file that the user has edited', () => {
  const mine = 'These are my own words → é 汉.\n';
  const yours = (place: Place, session: string, folder = '') =>
    readdirSync(place.path(session, folder))
      .filter((name) => name.includes('.yours-'))
      .sort()
      .map((name) => [name, place.read(session, folder, name)]);

  test('is set aside before the session goes on, and said so', async () => {
    const { own, place } = await stopped();
    for (const name of ['best_skill.md', 'skillopt.md', 'skillopt.snapshots/skill_v0000.md'])
      writeFileSync(place.path('session', name), mine);
    const end = await own.succeed(['run', 'session']);
    expect(yours(place, 'session')).toEqual([
      ['best_skill.yours-1.md', mine],
      ['skillopt.yours-1.md', mine],
    ]);
    expect(yours(place, 'session', 'skillopt.snapshots')).toEqual([['skill_v0000.yours-1.md', mine]]);
    expect(end.stdout).toMatch(
      /^warning .*best_skill\.md was not written by this session; it was set aside as .*best_skill\.yours-1\.md/m,
    );
    expect(await essence(place, 'session')).toEqual(await undisturbed());
    await own.succeed(['verify', 'session']);
  });

  test('is not overwritten by a run that is refused', async () => {
    const { own, place } = await stopped();
    for (const name of ['best_skill.md', 'skillopt.md']) writeFileSync(place.path('session', name), mine);
    own.configure({ allowUnsandboxed: false });
    expect((await own.run(['run', 'session'])).code).toBe(4);
    expect([place.read('session/best_skill.md'), place.read('session/skillopt.md')]).toEqual([mine, mine]);
  });

  test('while the session is at work is not overwritten either', async () => {
    const { own, place, run } = await atWork();
    for (const name of ['best_skill.md', 'skillopt.md']) writeFileSync(place.path('session', name), mine);
    own.free();
    expect((await run.ended).code).toBe(0);
    const kept = readdirSync(place.path('session'))
      .filter((name) => name.endsWith('.md'))
      .filter((name) => place.read('session', name) === mine);
    expect(kept).toHaveLength(2);
  });
});

test('run on a session that has ended performs nothing and reports the same', async () => {
  const own = new OwnSession(new Place());
  const first = await own.succeed(['run', 'session']);
  const before = rollouts(own.place, 'session');
  const again = await own.succeed(['run', 'session']);
  const result = (text: string) =>
    text.split('\n').filter((line) => /^(result|confirmed|ended|best skill)\b/.test(line));
  expect(result(again.stdout)).toEqual(result(first.stdout).filter((line) => !line.startsWith('confirmed   improved')));
  expect(rollouts(own.place, 'session')).toBe(before);
  expect(performedAgain(own.place.events('session'))).toEqual([]);
});
