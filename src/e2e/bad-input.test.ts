import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type Ended, expectFailure, jsonOf, Place, removePlaces } from './binary.ts';
import { allTasks, config, OwnSession, seedSkill, splits } from './own-pack.ts';

afterAll(removePlaces);

/** A refused session is as it was: the user's files untouched, and nothing in its folder that looks like a session. */
async function expectRefused(
  own: OwnSession,
  expected: { readonly code: number; readonly what: RegExp; readonly where: RegExp; readonly fix: RegExp },
): Promise<Ended> {
  const before = [own.sources, own.place.read('session/skillopt.config.json')];
  const end = await own.run(['run', 'session']);
  expectFailure(end, expected);
  expect([own.sources, own.place.read('session/skillopt.config.json')]).toEqual(before);
  const left = readdirSync(own.place.path('session')).filter((name) => !own.brought.includes(name));
  expect(left.filter((name) => name !== '.skillopt' && name !== 'skillopt.jsonl')).toEqual([]);
  expect(own.place.lines('session')).toBe(0);
  expect(readdirSync(own.place.temp)).toEqual([]);
  return end;
}

const configFile = /\/work\/session\/skillopt\.config\.json$/;

describe('a config', () => {
  test.each([
    ['an unknown key', { budjet: {} }, /^unknown key budjet$/, configFile, /^did you mean budget\?$/],
    [
      'an unknown key within',
      { gate: { rul: 'bold' } },
      /^unknown key gate\.rul$/,
      configFile,
      /^did you mean gate\.rule\?$/,
    ],
    [
      'a secret in the arguments of a command',
      { optimizer: { model: 'command/mine', command: ['mine', 'https://joe:hunter2345@example.org'] } },
      /^optimizer\.command\.1 holds a secret, which would stand in the log$/,
      configFile,
      /^take it out of the config/,
    ],
    [
      'a word that is none of the choices',
      { gate: { rule: 'mild' } },
      /^gate\.rule/,
      configFile,
      /balanced, bold, careful/,
    ],
    [
      'a value of another type',
      { workers: 'many' },
      /^workers can’t be that$/,
      configFile,
      /^it has to be a whole number /,
    ],
    ['no skill', { skill: undefined }, /^skill is missing$/, configFile, /"skill"/],
    ['a budget that is too small', { budget: { rollouts: 5 } }, /too small/, /^budget\.rollouts$/, /at least 12/],
    ['an unknown agent', { agent: 'rehersal' }, /rehersal/, /^agent$/, /rehearsal/],
    ['an unknown optimizer', { optimizer: 'rehersal' }, /rehersal/, /^optimizer$/, /^did you mean rehearsal\?$/],
    [
      'an unknown example',
      { skill: 'example:helo-harbor' },
      /helo-harbor/,
      /^example:helo-harbor$/,
      /^did you mean example:hello-harbor\?$/,
    ],
  ])('with %s is refused', async (_name, more, what, where, fix) => {
    const own = new OwnSession(new Place(), { config: more });
    await expectRefused(own, { code: 2, what, where, fix });
  });

  test('that is not JSON is refused; mended, the session runs', async () => {
    const own = new OwnSession(new Place());
    writeFileSync(own.place.path('session/skillopt.config.json'), '{ "skill": "../post-office", }}');
    await expectRefused(own, {
      code: 2,
      what: /^the config is not JSON: /,
      where: /skillopt\.config\.json:1:\d+$/,
      fix: /^mend the JSON/,
    });
    own.configure({});
    expect((await own.succeed(['run', 'session'])).stdout).toContain('result      confirmed on selection');
  });

  test('that is not there is told, with the way to one', async () => {
    const place = new Place();
    expectFailure(await place.run(['run', 'session']), {
      code: 2,
      what: /^there is no config$/,
      where: configFile,
      fix: /skillopt demo/,
    });
    expect(readdirSync(place.dir)).toEqual([]);
  });
});

describe('a skill', () => {
  const skillFile = /\/work\/post-office\/SKILL\.md/;
  test.each([
    ['without frontmatter', '# Post office\n', /^no frontmatter$/, /SKILL\.md:1$/, /"---", "name: …"/],
    ['without a description', '---\nname: post-office\n---\nText\n', /description/, skillFile, /description/],
    ['with broken frontmatter', '---\nname: [\n---\nText\n', /./, skillFile, /./],
    ['that is empty', '', /./, skillFile, /./],
  ])('%s is refused', async (_name, skill, what, where, fix) => {
    await expectRefused(new OwnSession(new Place(), { skill }), { code: 3, what, where, fix });
  });

  test('that is not there, or holds a secret of the environment, is refused', async () => {
    const own = new OwnSession(new Place(), { config: { skill: '../nowhere' } });
    await expectRefused(own, { code: 3, what: /no such skill/, where: /\/work\/nowhere$/, fix: /SKILL\.md/ });
    own.configure({});
    writeFileSync(own.place.path('post-office/SKILL.md'), `${seedSkill}\nThe key is hunter-2-hunter-2.\n`);
    const end = await own.place.run(['run', 'session'], { env: { ...own.env, POST_API_KEY: 'hunter-2-hunter-2' } });
    expectFailure(end, { code: 3, what: /the value of POST_API_KEY/, where: skillFile, fix: /take the secret out/ });
    expect(end.stdout + end.stderr).not.toContain('hunter-2');
  });
});

describe('a pack', () => {
  test('with one broken task names it', async () => {
    const own = new OwnSession(new Place());
    rmSync(own.place.path('pack/sign-for-bo/tests'), { recursive: true });
    await expectRefused(own, {
      code: 3,
      what: /^sign-for-bo\/tests\/test\.sh: missing/,
      where: /\/work\/pack\/sign-for-bo\/tests\/test\.sh$/, // where the user can mend it
      fix: /add the script/,
    });
  });

  test('with several broken tasks names each, in one go', async () => {
    const own = new OwnSession(new Place());
    rmSync(own.place.path('pack/sign-for-bo/tests'), { recursive: true });
    rmSync(own.place.path('pack/sign-for-gus/instruction.md'));
    writeFileSync(own.place.path('pack/stamp-for-cy/task.toml'), '[agent\n');
    await expectRefused(own, {
      code: 3,
      what: /\(and 2 more problems\)$/,
      where:
        /\/work\/pack\/sign-for-bo\/tests\/test\.sh: [^\n]+\n.*\/work\/pack\/sign-for-gus\/instruction\.md: [^\n]+\n.*\/work\/pack\/stamp-for-cy\/task\.toml:1: /,
      fix: /\n/,
    });
  });

  test('whose script touches the machine’s own /app is refused before anything runs', async () => {
    const own = new OwnSession(new Place());
    const script = own.place.path('pack/sign-for-bo/tests/test.sh');
    writeFileSync(script, '#!/bin/sh\ntouch /app/mark\n');
    await expectRefused(own, {
      code: 4,
      what: /^task sign-for-bo uses \/app of this machine/,
      where: /sign-for-bo\/tests\/test\.sh:2$/,
      fix: /\$\{APP_DIR:-\/app\}/,
    });
    expect(existsSync('/app/mark')).toBe(false);
  });

  test('of a user is not run in plain folders without consent; with it, it is', async () => {
    const own = new OwnSession(new Place(), { config: { allowUnsandboxed: undefined } });
    await expectRefused(own, {
      code: 4,
      what: /without a sandbox/,
      where: /^backend local$/,
      fix: /--allow-unsandboxed/,
    });
    await own.succeed(['run', 'session', '--allow-unsandboxed']);
  });

  test('with three tasks in all is too small', async () => {
    const own = new OwnSession(new Place(), { config: { splits: undefined } });
    for (const id of allTasks.slice(3)) rmSync(own.place.path('pack', id), { recursive: true });
    await expectRefused(own, {
      code: 3,
      what: /^3 tasks in all, .* at least 6/,
      where: /^the pack$/,
      fix: /add 3 tasks/,
    });
  });

  test.each([
    ['one task in a split', { ...splits, train: ['stamp-for-ada'] }, /^train has 1 task: /, /^splits\.train$/],
    ['an unknown task', { ...splits, train: ['stamp-for-ada', 'stamp-for-zoe'] }, /stamp-for-zoe/, /^splits\.train$/],
    ['a task in two splits', { ...splits, train: [...splits.train, 'stamp-for-cy'] }, /stamp-for-cy/, /^splits/],
    ['no test split', { ratio: { train: 1, selection: 1, test: 0 } }, /^test would be empty/, /^splits\.ratio\.test$/],
    ['everything in test', { ratio: { train: 0, selection: 0, test: 1 } }, /^all tasks are in test/, /^splits\.ratio$/],
  ])('with %s is refused before anything runs', async (_name, wanted, what, where) => {
    const own = new OwnSession(new Place(), { config: { splits: wanted } });
    await expectRefused(own, { code: 3, what, where, fix: /./ });
  });

  test('with few selection tasks runs, and says what it can’t tell', async () => {
    const own = new OwnSession(new Place());
    const end = await own.succeed(['run', 'session']);
    expect(end.stdout).toMatch(/^warning +selection has only 3 tasks/m);
  });
});

test('with --json a failure is one JSON value on stdout, and nothing stands on stderr', async () => {
  const own = new OwnSession(new Place(), { config: { budjet: {} } });
  const end = await own.run(['run', 'session', '--json']);
  expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 2, stderr: '' });
  expect(jsonOf(end)).toEqual({
    error: {
      code: 'config',
      what: 'unknown key budjet',
      where: own.place.path('session/skillopt.config.json'),
      fix: 'did you mean budget?',
      retryable: false,
    },
  });
});

test('a rehearsal without its list of edits names the file', async () => {
  const own = new OwnSession(new Place(), { config: { ...config } });
  rmSync(own.place.path('session/rehearsal.json'));
  await expectRefused(own, {
    code: 2,
    what: /no list of edits/,
    where: /session\/rehearsal\.json$/,
    fix: /beside the config/,
  });
});

test('a rehearsal on an example that brings no list of edits names the file, too', async () => {
  const example = 'example:short-answers';
  const model = { model: 'openai-compatible/m', baseUrl: 'http://127.0.0.1:1/v1' };
  const more = { pack: example, skill: example, backend: 'chat', model, agent: undefined, splits: undefined };
  const own = new OwnSession(new Place(), { config: more });
  rmSync(own.place.path('session/rehearsal.json'));
  await expectRefused(own, {
    code: 2,
    what: /no list of edits/,
    where: /session\/rehearsal\.json$/,
    fix: /or name a model as "optimizer"$/,
  });
});

test('what model and optimizer lack alike is told once', async () => {
  const example = 'example:short-answers';
  const model = { model: 'openai-compatible/m', baseUrl: 'http://127.0.0.1:1/v1' };
  const more = { pack: example, skill: example, backend: 'chat', model, optimizer: model };
  const own = new OwnSession(new Place(), { config: { ...more, agent: undefined, splits: undefined } });
  await expectRefused(own, {
    code: 4,
    what: /^no connection \(ECONNREFUSED\)$/,
    where: /^openai-compatible\/m at http:\/\/127\.0\.0\.1:1\/v1$/,
    fix: /start the server/,
  });
});
