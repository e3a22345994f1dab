import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Ended, expectFailure, jsonOf, markedProcesses, Place, removePlaces, until } from './binary.ts';
import { decisionOf, type EvalJson, evalDir, evalEvents, example, reportIn } from './evals.ts';
import { allTasks, hashOf, OwnSession, seedSkill, splits, taskFiles, writeFiles } from './own-pack.ts';
import { copyOfDemo, performedAgain } from './sessions.ts';

afterAll(removePlaces);

const json = (end: Ended): EvalJson => jsonOf(end) as unknown as EvalJson;

describe('the bundled example', () => {
  test('says what passes with it and without it, and leaves log, report and trajectories', async () => {
    const place = new Place();
    const end = await place.succeed([...example, '--no-skill', '--limit', '6']);
    expect(end.stdout).toMatch(/^plan +12 rollouts: 2 arms × 6 tasks × 1 attempt · \d+ at a time$/m);
    expect(end.stdout).toMatch(/^ {2}12 of 12 +\S+ · .* (passes|fails) · hello-harbor \d\/6, no skill 0\/6$/m);
    const [, said = ''] = /^result +(with it \d of 6, without it 0 of 6)$/m.exec(end.stdout) ?? [];
    expect(said).not.toBe('');
    expect(end.stdout).toMatch(/^hello-harbor +\d\/6 +\d+ % +\d+ to \d+ % +6 of 6 +0 +\$0 +0\.0 +[\d.]+ s$/m);
    expect(end.stdout).toMatch(/REHEARSAL \(no model is called\)$/m);
    expect(place.read(evalDir, 'skillopt-eval.md')).toStartWith(`# ${said}\n`);
    expect(end.stdout).toContain(reportIn(place, evalDir).trim());
    expect(readdirSync(place.dir)).toEqual([evalDir]);
    expect(readdirSync(place.path(evalDir)).filter((n) => !n.startsWith('.'))).toEqual([
      'skillopt-eval.jsonl',
      'skillopt-eval.md',
    ]);
    expect((await place.succeed(['verify', evalDir])).stdout).toMatch(
      new RegExp(`^verified +${evalDir}: 1 decision follows from 12 effects, through the eval$`, 'm'),
    );
    const id = String(evalEvents(place, evalDir)[0]?.eval);
    expect([...markedProcesses(id), ...readdirSync(place.temp).filter((n) => n.startsWith('skillopt-'))]).toEqual([]);

    // a finished one is shown and not run again
    const before = hashOf(place.path(evalDir));
    const again = await place.succeed([...example, '--no-skill', '--limit', '6', '--json']);
    expect(json(again)).toMatchObject({ headline: said, complete: true });
    expect(hashOf(place.path(evalDir))).toBe(before);
    const files = json(again).tasks.flatMap((t) => Object.values(t.trajectories).flat());
    expect(files).toHaveLength(12);
    for (const file of files) expect(JSON.parse(place.read(file))).toMatchObject({ agent: 'rehearsal' });
  });

  test('with repeats it tells pass@k and pass^k; other arguments are refused with the difference and another place', async () => {
    const place = new Place();
    const end = await place.succeed([...example, '--limit', '2', '--repeat', '3', '--json']);
    const [arm] = json(end).arms;
    expect(arm).toMatchObject({ scored: 6, read: [6, 6] });
    expect(arm?.passAt.map((p) => p.k)).toEqual([1, 2, 3]);
    const other = await place.run([...example, '--limit', '3', '--no-skill']);
    expectFailure(other, {
      code: 5,
      what: /^another eval lies there; it differs in --no-skill \(was not asked for, is now\), tasks \(were 2, are 3\), repeat \(was 3, is 1\)$/,
      where: new RegExp(`${evalDir}$`),
      fix: new RegExp(`--out ${evalDir}-2$`),
    });
    await place.succeed([...example, '--limit', '3', '--out', `${evalDir}-2`]);
  });
});

/** An own pack and skill beside it, without a session. `$HOLD_DIR/log` is a file that lets `block` hold at once. */
function ownPack(options: ConstructorParameters<typeof OwnSession>[1] = {}): OwnSession {
  const own = new OwnSession(new Place(), options);
  writeFileSync(own.place.path('session/skillopt.jsonl'), '"seq":1,\n');
  return own;
}
const ownFolders = ['--allow-unsandboxed', '--set', 'sandbox.kind=none'];
const ownEval = ['eval', '--skill', 'post-office', '--pack', 'pack', '--agent', 'rehearsal', ...ownFolders];
const ownDir = 'skillopt-eval-post-office';

describe('an own skill and pack', () => {
  test('are only read; a skill of one’s own is beside another one', async () => {
    const own = ownPack();
    const better = seedSkill.replace(
      '## Rules',
      '- When the task says "sign the letter", run `sed \'1i SIGNED\' letter.txt > signed.txt`.\n\n## Rules',
    );
    writeFiles(own.place.dir, { 'better/SKILL.md': better });
    const sources = own.sources;
    const end = await own.succeed([...ownEval, '--vs', 'better', '--no-skill']);
    const signs = allTasks.filter((t) => t.startsWith('sign')).length;
    const weighs = allTasks.filter((t) => t.startsWith('weigh')).length;
    expect(end.stdout).toMatch(
      new RegExp(`^result +with it ${weighs} of 8, without it 0 of 8, with better ${weighs + signs} of 8$`, 'm'),
    );
    expect(end.stdout).toMatch(
      new RegExp(
        `^against +better: won 0, lost ${signs}, alike \\d of 8 tasks · evidence 0\\.88 that it is worse`,
        'm',
      ),
    );
    expect(own.sources).toBe(sources);
    expect(readdirSync(own.place.temp).filter((n) => n.startsWith('skillopt-'))).toEqual([]);
  });

  test('without consent nothing is run and nothing is left', async () => {
    const own = ownPack();
    const args = ownEval.filter((a) => a !== '--allow-unsandboxed');
    const end = await own.run(args);
    expectFailure(end, { code: 4, what: /sandbox/, where: /./, fix: /--allow-unsandboxed/ });
    expect(existsSync(own.place.path(ownDir))).toBe(false);
    expect(jsonOf(await own.run([...args, '--json'])).error).toMatchObject({ code: 'preflight' });
  });

  test('a skill that was changed since is another eval', async () => {
    const own = ownPack();
    await own.succeed([...ownEval, '--limit', '2']);
    writeFiles(own.place.dir, { 'post-office/SKILL.md': `${seedSkill}\nMore.\n` });
    expectFailure(await own.run([...ownEval, '--limit', '2']), {
      code: 5,
      what: /it differs in the text or the files of post-office$/,
      where: /./,
      fix: /--out skillopt-eval-post-office-2$/,
    });
  });

  test('a report that somebody has written into is set aside, not overwritten', async () => {
    const own = ownPack();
    await own.succeed([...ownEval, '--limit', '2', '--limit-rollouts', '1']).catch(() => {});
    const document = own.place.path(ownDir, 'skillopt-eval.md');
    writeFileSync(document, `${readFileSync(document, 'utf8')}mine\n`);
    const end = await own.succeed([...ownEval, '--limit', '2']);
    expect(end.stdout).toMatch(/^warning .* was set aside as .*skillopt-eval\.yours-1\.md$/m);
    expect(own.place.read(ownDir, 'skillopt-eval.yours-1.md')).toEndWith('mine\n');
    expect(own.place.read(ownDir, 'skillopt-eval.md')).toStartWith('# with it ');
    await own.succeed(['verify', ownDir]);
  });

  test('at a task for which the skill is not meant, opening it is the fault', async () => {
    const own = ownPack();
    const id = 'weigh-for-hal';
    const toml = `${taskFiles(id)[`${id}/task.toml`]}\n[metadata]\nshould_trigger = false\n`;
    writeFiles(own.place.path('pack'), { [`${id}/task.toml`]: toml });
    const end = await own.succeed([...ownEval, '--no-skill', '--json']);
    const [skill, none] = json(end).arms;
    expect(skill).toMatchObject({ passed: 0, scored: 8, keptShut: { shut: 0, told: 1, of: 1 } });
    expect(none?.keptShut).toBeNull();
    expect(json(end).notes).toContainEqual(
      '1 task should not open the skill: opened in 1 of 1, which counts as not passed',
    );
  });
});

describe('an eval that is cut', () => {
  const args = [...ownEval, '--no-skill', '--repeat', '2', '--workers', '3'];

  test('by kill −9: the same command goes on, nothing that finished is performed again', async () => {
    const whole = ownPack();
    await whole.succeed(args);
    const own = ownPack();
    const ends = () => evalEvents(own.place, ownDir).filter((e) => e.type === 'rollout.finished').length;
    for (const [n, task] of [
      [1, splits.selection[0]],
      [9, splits.train[0]],
    ] as const) {
      own.block([task]);
      const run = own.start(args);
      await until('it is held', () => run.over() || (ends() >= n && own.waiting() > 0));
      run.kill('SIGKILL');
      expect((await run.ended).signal).toBe('SIGKILL');
      own.free();
    }
    const end = await own.succeed(args);
    expect(end.stdout).toMatch(/^resumed +\d+ of 32 attempts are done; what finished is not performed again$/m);
    const events = evalEvents(own.place, ownDir);
    expect(performedAgain(events).filter((s) => String(s).startsWith('rollout.finished'))).toEqual([]);
    expect(decisionOf(own.place, ownDir)).toEqual(decisionOf(whole.place, ownDir));
    await own.succeed(['verify', ownDir]);
    const id = String(events[0]?.eval);
    expect([...markedProcesses(id), ...readdirSync(own.place.temp).filter((n) => n.startsWith('skillopt-'))]).toEqual(
      [],
    );
  });

  test('by a signal: it ends in order and says how far it has come', async () => {
    const own = ownPack();
    own.block([splits.test[0]]);
    const run = own.start(args);
    await until('it is held', () => run.over() || own.waiting() > 0);
    run.kill('SIGINT');
    const cut = await run.ended;
    expect(cut.code).toBe(130);
    expect(cut.stdout).toMatch(
      /^result +so far, after \d+ of 32 attempts: with it \d+ of \d+, without it \d+ of \d+$/m,
    );
    expect(cut.stdout).toMatch(/^next +start it again: it goes on where it stopped$/m);
    expect(own.place.read(ownDir, 'skillopt-eval.md')).toStartWith('# so far, ');
    own.free();
    const end = await own.succeed(args);
    expect(end.stdout).toMatch(/^result +with it \d+ of 16, without it 0 of 16$/m);
    expect(performedAgain(evalEvents(own.place, ownDir))).toEqual([]);
    await own.succeed(['verify', ownDir]);
  });

  test('by a limit: it says what is left, and goes on when it is raised', async () => {
    const own = ownPack();
    const end = await own.run([...args, '--limit-rollouts', '5']);
    expectFailure(end, {
      code: 2,
      what: /^the limit of 5 rollouts is reached, with 27 rollouts left$/,
      where: /^--limit-rollouts$/,
      fix: /^raise it to 32 or more/,
    });
    expect(end.stdout).toMatch(/^result +so far, after 5 of 32 attempts: /m);
    expect(end.stdout).toMatch(/^next +raise it to 32 or more/m);
    await own.succeed(['verify', ownDir]);
    expectFailure(await own.run(['status', ownDir]), {
      code: 2,
      what: /^an eval lies here, and no session$/,
      where: new RegExp(`${ownDir}$`),
      fix: /the same `skillopt eval` again/,
    });
    await own.succeed([...args, '--limit-rollouts', '32']); // what it said is enough: nothing is rolled out for nobody
    const events = evalEvents(own.place, ownDir);
    expect(performedAgain(events)).toEqual([]);
    expect(events.filter((e) => e.type === 'rollout.started')).toHaveLength(32);
    await own.succeed(['verify', ownDir]);
  });
});

describe('in a session', () => {
  test('the test split is sealed until finalize', async () => {
    const own = new OwnSession(new Place());
    const sealed = async (fix: RegExp) => {
      const end = await own.run(['eval', 'session', '--split', 'test']);
      expectFailure(end, { code: 2, what: /^the test split is sealed: /, where: /^--split test$/, fix });
      expect(jsonOf(await own.run(['eval', 'session', '--split', 'test', '--json'])).error).toMatchObject({
        code: 'usage',
      });
    };
    await sealed(/^go on with `skillopt run session`/);
    const few = ['eval', 'session', '--set', 'taskLimit=2', '--out'];
    const drawn = await own.succeed([...few, '-drawn']); // until it has begun its splits follow from the config
    expect(drawn.stdout).not.toContain('ignored');
    expect(drawn.stdout).toMatch(/^measured +2 tasks of /m);
    const told = /\(skillopt verify (.*)\)/.exec(drawn.stdout)?.[1] ?? '';
    expect(told).toBe('./-drawn');
    await own.succeed(['verify', told]);
    const seed = await own.succeed(['eval', 'session', '--split', 'train', '--json']);
    expect(json(seed)).toMatchObject({ headline: 'with it 0 of 2', session: { split: 'train', look: null } });
    await own.succeed(['run', 'session']);
    const fixed = await own.succeed([...few, 'fixed']);
    expect(fixed.stdout).toMatch(/^ignored +--set taskLimit=2: /m);
    expect(fixed.stdout).toMatch(/^measured +3 tasks of /m);
    await sealed(/^open it once with `skillopt finalize session`/);
    expect(existsSync(own.place.path('session/skillopt.evals'))).toBe(true);
    const best = await own.succeed(['eval', 'session']);
    expect(best.stdout).toMatch(/^result +with it 3 of 3$/m);
    expect(best.stdout).toMatch(/^note +split selection: .* looks better than it is$/m);
    expect((await own.succeed(['verify', 'session'])).stdout).toContain('verified');

    // one that lies in the session's own directory is verified with it
    await own.succeed(['eval', 'session', '--split', 'train', '--out', 'session']);
    const both = await own.succeed(['verify', 'session']);
    expect(both.stdout).toMatch(/^verified +session: .* through the search$/m);
    expect(both.stdout).toMatch(/^verified +the eval in session: 1 decision .* through the eval$/m);
    const log = own.place.path('session', 'skillopt-eval.jsonl');
    writeFileSync(log, readFileSync(log, 'utf8').replace(/"line":"eval"/, '"line":"loop"'));
    expect((await own.run(['verify', 'session'])).code).toBe(6);
  });

  test('after finalize a look at the test is recorded in the session, and told wherever its number stands', async () => {
    const place = await copyOfDemo();
    const session = 'skillopt-demo';
    const spent = async () => jsonOf(await place.succeed(['status', session, '--json'])).minutes;
    const before = await spent();
    const args = ['eval', session, '--split', 'test', '--no-skill', '--limit', '3'];
    const first = await place.succeed([...args, '--json']);
    expect(json(first)).toMatchObject({ session: { split: 'test', look: 2 } });
    expect(json(first).notes.join('\n')).toMatch(/look 2, the test was looked at once before/);
    await place.succeed(args); // shown again, which is no look
    const looks = () => place.events(session).filter((e) => e.type === 'test.looked');
    expect(looks()).toMatchObject([{ look: 2 }]);
    await place.succeed([...args, '--out', 'other']);
    expect(looks()).toMatchObject([{ look: 2 }, { look: 3 }]);
    const status = jsonOf(await place.succeed(['status', session, '--json']));
    expect(status).toMatchObject({ look: 1, testAttempts: 1, lookedAgain: 2, minutes: before }); // what lies between is no time of the session
    expect(String(status.headline)).toContain('(opened once, looked at again 2 times since, by evals, ');
    expect(place.read(session, 'skillopt.md')).toContain(
      'opened once; looked at again 2 times since, by evals. Result',
    );
    expect((await place.succeed(['verify', session])).stdout).toMatch(/^verified /m);
    await place.succeed(['fork', session, '--to', 'forked']);
    expect(place.events('forked')[0]?.fork).toMatchObject({ looks: 3 });
  });
});

test('in a terminal one line tells how far it is, and the report stays', async () => {
  const own = ownPack();
  own.block([splits.test[0]]);
  const terminal = own.inTerminal([...ownEval, '--no-skill', '--workers', '2'], { columns: 100, rows: 40 });
  await terminal.waitFor(/^ {2}\d+ of 16 +\S+ · .* · post-office \d+\/\d+, no skill 0\/\d+$/m);
  own.free();
  expect(await terminal.ended).toEqual({ code: 0, signal: null });
  const history = await terminal.history();
  expect(history).toMatch(/^result +with it \d of 8, without it 0 of 8$/m);
  expect(history).not.toMatch(/\d of 16 /);
  expect(terminal.onAlternateScreen).toBe(false);
  await terminal.close();
});

/** The prompts of the bundled example, asked of a server that nobody has named. */
const chat = [
  ...['eval', '--skill', 'example:short-answers', '--pack', 'example:short-answers'],
  ...['--model', 'openai-compatible/x'],
];

const rehearsal = ['--agent', 'rehearsal'];

test.each([
  [['eval'], /^no skill is named$/, /^--skill$/],
  [['eval', '--skill', 'example:hello-harbor'], /^no pack is named/, /^--pack$/],
  [['eval', '--skill', 'nowhere', '--pack', 'x'], /^there is no such skill$/, /nowhere$/],
  [
    ['eval', '--skill', 'nowhere', '--pack', 'example:hello-harbor', ...rehearsal, '--out', 'a/b/c'],
    /^there is no such skill$/,
    /nowhere$/,
  ],
  [[...example, '--split', 'train'], /^splits are a session’s/, /^--split$/],
  [[...example, '--repeat', '0'], /--repeat .* '0' is invalid/, /^the command line$/],
  [[...example, '--vs', 'example:hello-harbor'], /^both skills are the same/, /^--vs$/],
  [[...example, '--out', ''], /'--out <dir>' argument '' is invalid\. it is empty/, /^the command line$/],
  [['eval', ''], /argument 'dir' is invalid\. it is empty|argument value '' is invalid/, /^the command line$/],
  [[...example, '--set', 'agent=oracle'], /--agent rehearsal and --set agent=oracle$/, /^the command line$/],
  [[...example, '--set', 'pack=x'], /--pack example:hello-harbor and --set pack=x$/, /^the command line$/],
  [[...chat, '--set', 'model=other/y'], /--model openai-compatible\/x and --set model=other\/y$/, /^the command line$/],
  [
    [...chat, '--base-url', 'http://a', '--set', 'model.baseUrl=http://b'],
    /^two flags contradict/,
    /^the command line$/,
  ],
  [[...chat, '--out', 'a', '--cfg-options', 'env.out_root=b'], /^two flags contradict/, /^the command line$/],
  [chat, /^openai-compatible\/x has no address$/, /^--base-url$/],
  [
    ['eval', '--skill', 'example:hello-harbor', '--pack', 'example:hello-harbor'],
    /^task folders are done by an agent/,
    /^--agent$/,
  ],
  [
    ['eval', '--skill', 'example:short-answers', '--pack', 'example:short-answers'],
    /^the prompts of a pack are asked of a model/,
    /^--model$/,
  ],
])('%j is refused with the next step, and leaves nothing', async (args, what, where) => {
  const place = new Place();
  const end = await place.run(args);
  const code = /no such skill/.test(String(what)) ? 3 : 2;
  expectFailure(end, { code, what, where, fix: /./ });
  expect(readdirSync(place.dir)).toEqual([]);
});
