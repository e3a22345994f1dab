import { afterAll, describe, expect, test } from 'bun:test';
import { appendFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { forkParts } from '../cli/wiring.ts';
import { fileLayers } from '../config/layers.ts';
import { type ForkParts, forkSession } from '../session/fork.ts';
import { sessionPaths } from '../session/paths.ts';
import { expectFailure, jsonOf, type LogLine, Place, removePlaces } from './binary.ts';
import { bytes, finished, rewrite } from './finished-session.ts';
import { OwnSession, splits, taskFiles, undisturbed, writeFiles } from './own-pack.ts';
import { essence, performedAgain, sessionFiles } from './sessions.ts';

afterAll(removePlaces);

const finishedKeys = (events: readonly LogLine[]) =>
  events.filter((e) => e.type === 'rollout.finished').map((e) => String(e.key));

describe('a fork of a finished session', () => {
  test('at step 1 inherits what was paid until then, goes on to the end and verifies; its parent is not changed', async () => {
    const own = await finished();
    const { place } = own;
    const before = bytes(own);
    const end = await own.succeed(['fork', 'session', '--at', '1']);
    expect(bytes(own)).toBe(before);
    expect(end.stdout).toMatch(/^forked {6}session [0-9a-f]{8} after step 1 → session-step1 \(session [0-9a-f]{8}\)$/m);
    expect(end.stdout).toContain('inherited   2 train, 3 selection, 3 test tasks (sealed) · ');
    expect(end.stdout).toContain('test        was opened once before: finalize here is look 2');
    expect(end.stdout).toMatch(/^next {8}skillopt run session-step1$/m);
    expect(readdirSync(place.dir).sort()).toEqual(['pack', 'post-office', 'session', 'session-step1']);
    expect(readdirSync(place.path('session-step1')).sort()).toEqual(
      ['.skillopt', 'rehearsal.json', ...sessionFiles].sort(),
    );
    await own.succeed(['verify', 'session-step1']);
    expect(await essence(place, 'session-step1')).toMatchObject({ cause: null, table: [{ step: 1 }] });

    const inherited = new Set(finishedKeys(place.events('session-step1')));
    expect(inherited.size).toBeGreaterThan(5);
    const run = await own.succeed(['run', 'session-step1', '--finalize']);
    expect(run.stdout).toContain(`finished rollouts and ${inherited.size} inherited, step 1; `);
    const events = place.events('session-step1');
    const started = events.filter((e) => e.type === 'rollout.started').map((e) => String(e.key));
    expect(started.filter((key) => inherited.has(key))).toEqual([]);
    expect(performedAgain(events)).toEqual([]);
    const report = jsonOf(await own.succeed(['status', 'session-step1', '--json']));
    expect(report.rollouts).toMatchObject({ started: started.length, inherited: inherited.size });
    expect(report.headline).toContain('(look 2: the test was opened once before this fork');
    expect(place.read('session-step1/skillopt.md')).toMatch(
      /^Forked from [0-9a-f]{8} after step 1; \d+ outcomes and proposals inherited\.$/m,
    );
    expect(place.read('session-step1/skillopt.md')).toContain('look 2: the test was opened once before this fork');
    // the same rules, agent and pack: it comes to the same result
    const { test: _test, ...same } = (await essence(place, 'session-step1')) as Record<string, unknown>;
    const { test: _other, ...wanted } = (await undisturbed()) as Record<string, unknown>;
    expect(same).toEqual(wanted);
    for (const dir of ['session', 'session-step1']) await own.succeed(['verify', dir]);
    expect(bytes(own)).toBe(before);
  });

  test('goes on without the sources and without the parent: nothing else is needed', async () => {
    const own = await finished();
    const { place } = own;
    await own.succeed(['fork', 'session', '--to', 'far/away', '--at', '0']);
    expect(JSON.parse(place.read('far/away/skillopt.config.json'))).toMatchObject({
      skill: '../../post-office',
      pack: '../../pack',
    });
    for (const name of ['session', 'pack', 'post-office']) renameSync(place.path(name), place.path(`${name}.gone`));
    await own.succeed(['run', 'far/away']);
    expect(await essence(place, 'far/away')).toEqual(await undisturbed());
    await own.succeed(['verify', 'far/away']);
  });

  test('without a directory named is one of the working directory, beside it', async () => {
    const own = await finished();
    const end = await own.place.shell('cd session && "$SKILLOPT" fork --json', own.env);
    expect([end.code, end.stderr]).toEqual([0, '']);
    const report = jsonOf(end);
    expect(report.directory).toBe(own.place.path(`session-step${(report.parent as { step: number }).step}`));
    expect(report).toMatchObject({ look: 2, changes: [], splits: { train: 2, selection: 3, test: 3 } });
    expect(JSON.parse(own.place.read('session/skillopt.config.json')).pack).toBe('../pack');
  });

  test('takes the config as it is now: what was refused as another session runs in the fork', async () => {
    const own = await finished();
    const { place } = own;
    own.configure({ gate: { rule: 'careful' }, budget: { rollouts: 120 }, workers: 2 });
    const refused = await own.run(['run', 'session']);
    expectFailure(refused, {
      code: 5,
      what: /another session: gate\.rule/,
      where: /skillopt\.config\.json$/,
      fix: /`skillopt fork \S*\/work\/session`/,
    });
    const end = await own.succeed(['fork', 'session', '--to', 'careful']);
    expect(end.stdout).toContain('changes     gate.rule "balanced" → "careful"');
    const inherited = new Set(finishedKeys(place.events('careful')));
    expect(inherited.size).toBeGreaterThan(5);
    await own.succeed(['run', 'careful']);
    const events = place.events('careful');
    expect(events.filter((e) => e.type === 'rollout.started' && inherited.has(String(e.key)))).toEqual([]);
    expect(events.find((e) => e.type === 'plan.fixed')).toMatchObject({ gate: { rule: 'careful' }, budget: 120 });
    await own.succeed(['verify', 'careful']);
  });

  test('searches on where the budget had ended the search', async () => {
    const own = new OwnSession(new Place(), { config: { budget: { rollouts: 16 } } });
    const ended = await own.succeed(['run', 'session']);
    expect(ended.stdout).toContain('the budget is spent');
    own.configure({});
    expectFailure(await own.run(['run', 'session']), {
      code: 5,
      what: /^the search has ended, so budget\.rollouts can’t change any more/,
      where: /skillopt\.config\.json$/,
      fix: /go on in a fork: `skillopt fork \S*\/session`/,
    });
    const end = await own.succeed(['fork', 'session', '--to', 'child']);
    expect(end.stdout).toContain('from here   budget.rollouts 16 → 100');
    await own.succeed(['run', 'child']);
    const events = own.place.events('child');
    expect(events.filter((e) => e.type === 'input.received').map((e) => e.input)).toEqual([
      { kind: 'budget.changed', rollouts: 100 },
    ]);
    const { best, cause } = (await essence(own.place, 'child')) as Record<string, unknown>;
    const wanted = (await undisturbed()) as Record<string, unknown>;
    expect([best, cause]).toEqual([wanted.best, wanted.cause]);
    await own.succeed(['verify', 'child']);
  });

  test('reads the pack again: changed, gone and new tasks are told, and splits are kept', async () => {
    const own = await finished();
    const { place } = own;
    appendFileSync(place.path('pack/stamp-for-cy/instruction.md'), 'Thank you.\n');
    rmSync(place.path('pack/weigh-for-hal'), { recursive: true });
    writeFiles(place.path('pack'), taskFiles('sign-for-zoe'));
    writeFileSync(place.path('post-office/SKILL.md'), `${place.read('post-office/SKILL.md')}\nMore.\n`);
    const end = await own.succeed(['fork', 'session', '--to', 'child']);
    expect(end.stdout).toContain('pack        changed, to be rolled anew: stamp-for-cy');
    expect(end.stdout).toContain('pack        gone: weigh-for-hal');
    expect(end.stdout).toContain('pack        new: sign-for-zoe');
    expect(end.stdout).toContain('note        the source of the skill was changed since the parent began');
    await own.succeed(['run', 'child']);
    const fixed = place.events('child').find((e) => e.type === 'splits.fixed');
    const ids = (name: string) => ((fixed?.[name] ?? []) as { id: string }[]).map((t) => t.id).sort();
    expect([ids('train'), ids('selection'), ids('test')]).toEqual([
      [...splits.train, 'sign-for-zoe'].sort(),
      [...splits.selection].sort(),
      splits.test.filter((id) => id !== 'weigh-for-hal').sort(),
    ]);
    expect(place.read('child/skillopt.md')).toContain('the source of the skill was changed');
    await own.succeed(['verify', 'child']);
  });

  test('without the pack’s source has the tasks of the parent’s copy, and says so', async () => {
    const own = await finished();
    renameSync(own.place.path('pack'), own.place.path('moved'));
    const end = await own.succeed(['fork', 'session', '--to', 'child']);
    expect(end.stdout).toContain('note        the source of the pack is gone');
    expect(end.stdout).toContain('changes     nothing that decisions depend on');
  });

  test('inherits nothing of the sealed test', async () => {
    const own = await finished();
    await own.succeed(['fork', 'session', '--to', 'child']);
    const log = own.place.read('child/skillopt.jsonl').split('\n').slice(3).join('\n');
    for (const id of splits.test) expect(log).not.toContain(`"task":"${id}"`);
  });
});

describe('a fork is refused', () => {
  test('at a step that does not exist, at a place that is taken, in its parent, for other splits', async () => {
    const own = await finished();
    const { place } = own;
    const before = bytes(own);
    const listing = readdirSync(place.dir).sort();
    expectFailure(await own.run(['fork', 'session', '--at', '9']), {
      code: 2,
      what: /^this session has no step 9$/,
      where: /skillopt\.jsonl$/,
      fix: /^the steps to fork at are 0 \(the baseline\), 1/,
    });
    expectFailure(await own.run(['fork', 'session', '--at', 'x']), {
      code: 2,
      what: /--at/,
      where: /./,
      fix: /./,
    });
    expectFailure(await own.run(['fork', 'session', '--to', 'pack']), {
      code: 2,
      what: /the place of the new session is taken/,
      where: /\/work\/pack$/,
      fix: /--to/,
    });
    expectFailure(await own.run(['fork', 'session', '--to', 'session/child']), {
      code: 2,
      what: /can’t lie in its parent/,
      where: /session\/child$/,
      fix: /--to/,
    });
    expectFailure(await own.run(['fork', 'pack']), {
      code: 2,
      what: /there is no session here/,
      where: /skillopt\.jsonl$/,
      fix: /./,
    });
    expect(bytes(own)).toBe(before);
    own.configure({ splits: { ...splits, test: splits.train, train: splits.test } });
    expectFailure(await own.run(['fork', 'session']), {
      code: 5,
      what: /a fork inherits its splits/,
      where: /splits/,
      fix: /set them back/,
    });
    own.configure({});
    rmSync(place.path('pack/stamp-for-ada'), { recursive: true });
    expectFailure(await own.run(['fork', 'session']), {
      code: 3,
      what: /train would be left with 1 task: stamp-for-ada is gone/,
      where: /pack/,
      fix: /put back/,
    });
    expect(readdirSync(place.dir).sort()).toEqual(listing);
    writeFiles(place.path('pack'), taskFiles('stamp-for-ada'));
    mkdirSync(place.path('empty'));
    await own.succeed(['fork', 'session', '--to', 'empty']);
    expectFailure(await own.run(['fork', 'session', '--to', 'empty']), {
      code: 2,
      what: /there is a session already/,
      where: /empty$/,
      fix: /--to/,
    });
  });

  test('of a parent without a finished baseline', async () => {
    const own = await finished();
    const lines = own.place.read('session/skillopt.jsonl').split('\n');
    const at = lines.findIndex((l) => l.includes('"split":"train"'));
    writeFileSync(own.place.path('session/skillopt.jsonl'), `${lines.slice(0, at).join('\n')}\n`);
    rmSync(own.place.path('session/skillopt.md'));
    rmSync(own.place.path('session/best_skill.md'));
    expectFailure(await own.run(['fork', 'session']), {
      code: 2,
      what: /baseline of this session is not finished/,
      where: /skillopt\.jsonl$/,
      fix: /skillopt run \S*\/session/,
    });
  });

  test('of a parent that does not verify: a missing text, a changed one, a changed line', async () => {
    for (const harm of [
      (own: OwnSession, text: string) => rmSync(own.place.path('session/.skillopt/texts', text)),
      (own: OwnSession, text: string) => appendFileSync(own.place.path('session/.skillopt/texts', text), ' '),
      (own: OwnSession) =>
        rewrite(own, (e) => {
          if (e.type === 'gate.decided') e.wins = Number(e.wins) + 1;
        }),
    ]) {
      const own = await finished();
      const [text = ''] = readdirSync(own.place.path('session/.skillopt/texts'), {
        recursive: true,
        encoding: 'utf8',
      }).filter((name) => name.endsWith('.txt'));
      harm(own, text);
      expectFailure(await own.run(['fork', 'session']), {
        code: 6,
        what: /^the parent does not verify: /,
        where: /session/,
        fix: /skillopt verify/,
      });
      expect(existsSync(own.place.path('session-step1'))).toBe(false);
    }
  });
});

test('a fork that is cut off anywhere leaves nothing; what a killed one left is removed by the next', async () => {
  const own = await finished();
  const { place } = own;
  const before = bytes(own);
  const listing = readdirSync(place.dir).sort();
  const dir = place.path('session');
  const config = fileLayers(sessionPaths(dir).config);
  const request = { dir, to: place.path('child'), at: null, config, flags: [] };
  const whole = forkParts(place.path('session'), () => {});
  const cut = () => {
    throw new Error('cut off');
  };
  const renders: ForkParts['render'] = (state, head) => (state.session?.fork ? cut() : whole.render(state, head));
  const cuts: readonly Partial<ForkParts>[] = [
    { newId: cut },
    { copyFolder: cut },
    { skillSource: cut },
    { importPack: cut },
    { readPack: cut },
    { now: cut },
    { render: renders },
  ];
  for (const part of cuts) {
    const e = await forkSession(request, { ...whole, ...part }).then(
      () => null,
      (error: unknown) => error,
    );
    expect(String(e)).toContain('cut off');
    expect(readdirSync(place.dir).sort()).toEqual(listing);
  }
  mkdirSync(place.path('.child.partial-99999999'));
  expect(bytes(own)).toBe(before);
  await own.succeed(['fork', 'session', '--to', 'child']);
  expect(readdirSync(place.dir).sort()).toEqual(['child', ...listing].sort());
  await own.succeed(['verify', 'child']);
});
