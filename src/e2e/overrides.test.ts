import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectFailure, jsonOf, Place, removePlaces } from './binary.ts';
import { config, OwnSession } from './own-pack.ts';

afterAll(removePlaces);

type Row = { readonly key: string; readonly value: unknown; readonly source: Readonly<Record<string, string>> };
const rowsOf = (data: Readonly<Record<string, unknown>>) =>
  new Map((data.keys as readonly Row[]).map((row) => [row.key, row]));

const withEnv = (own: OwnSession, env: Readonly<Record<string, string>>) => ({ env: { ...own.env, ...env } });

/** The first line of a session's log. */
const created = (own: OwnSession, dir = 'session') => own.place.events(dir)[0] as unknown as { config: typeof config };

describe('config show', () => {
  const env = { SKILLOPT_SEARCH_DRY_ROUNDS: '3', SKILLOPT_LIMITS_USD: '7' };
  const args = [
    'config',
    'show',
    'session',
    '--set',
    'gate.rule=careful',
    '--budget',
    '80',
    '--cfg-options',
    'env.workers=3',
  ];

  test('has every key with its value and where that comes from, and changes nothing', async () => {
    const own = new OwnSession(new Place());
    const end = await own.place.succeed(args, withEnv(own, env));
    const lines = end.stdout.trimEnd().split('\n');
    const row = (key: string) => lines.find((line) => line.startsWith(`${key} `))?.split(/ {2,}/);
    expect(row('seed')).toEqual(['seed', '"1"', 'default']);
    expect(row('agent')).toEqual(['agent', '"rehearsal"', 'skillopt.config.json']);
    expect(row('search.draftSize')).toEqual(['search.draftSize', '2', 'skillopt.config.json']);
    expect(row('search.dryRounds')).toEqual(['search.dryRounds', '3', 'SKILLOPT_SEARCH_DRY_ROUNDS']);
    expect(row('limits.usd')).toEqual(['limits.usd', '7', 'SKILLOPT_LIMITS_USD']);
    expect(row('gate.rule')).toEqual(['gate.rule', '"careful"', '--set']);
    expect(row('budget.rollouts')).toEqual(['budget.rollouts', '80', '--budget']);
    expect(row('workers')).toEqual(['workers', '3', '--cfg-options env.workers=3']);
    expect(lines).toContain('note        taken: env.workers=3 is workers=3');
    const valuesAt = lines.filter((l) => !l.startsWith('note')).map((l) => /^\S+ +/.exec(l)?.[0].length);
    expect(new Set(valuesAt).size).toBe(1);
    expect(readdirSync(own.place.path('session')).sort()).toEqual(['rehearsal.json', 'skillopt.config.json']);
  });

  test('as JSON has variable and meaning, too; --changed leaves defaults out', async () => {
    const own = new OwnSession(new Place());
    const rows = rowsOf(jsonOf(await own.place.succeed([...args, '--json'], withEnv(own, env))));
    expect(rows.get('gate.rule')).toMatchObject({
      value: 'careful',
      source: { kind: 'flag', flag: '--set gate.rule=careful' },
      variable: 'SKILLOPT_GATE_RULE',
    });
    expect(rows.get('search.dryRounds')?.source).toMatchObject({ kind: 'environment' });
    expect(rows.get('splits.test')?.value).toEqual(config.splits.test);
    expect([...rows.values()].every((row) => String((row as Row & { meaning: string }).meaning).length > 0)).toBe(true);
    const changed = rowsOf(jsonOf(await own.place.succeed([...args, '--changed', '--json'], withEnv(own, env))));
    expect([...changed.keys()]).toEqual(
      [...rows.values()].filter((row) => row.source.kind !== 'default').map((row) => row.key),
    );
  });

  test('tells what would be refused, and why', async () => {
    const own = new OwnSession(new Place());
    const cases = [
      [
        ['--set', 'gate.ruel=bold'],
        {},
        /^unknown key gate\.ruel$/,
        /^--set gate\.ruel=bold$/,
        /^did you mean gate\.rule\?$/,
      ],
      [
        ['--set', 'workers=many'],
        {},
        /^workers can’t be that$/,
        /^--set workers=many$/,
        /^it has to be a whole number from 1 to 256, or null$/,
      ],
      [
        [],
        { SKILLOPT_WORKERS: 'many' },
        /^workers can’t be that$/,
        /^SKILLOPT_WORKERS=many$/,
        /^it has to be a whole number /,
      ],
      [[], { SKILLOPT_WORKRS: '3' }, /SKILLOPT_WORKRS/, /^SKILLOPT_WORKRS$/, /^did you mean SKILLOPT_WORKERS\?/],
      [
        ['--budget', '9', '--set', 'budget.rollouts=8'],
        {},
        /--budget 9 and --set budget\.rollouts=8/,
        /^the command line$/,
        /^keep one/,
      ],
      [['--cfg-options', 'train.seed=3'], {}, /^train\.seed has no/, /^--cfg-options train\.seed=3$/, /--set seed=42/],
    ] as const;
    for (const [more, variables, what, where, fix] of cases) {
      const end = await own.place.run(['config', 'show', 'session', ...more], withEnv(own, variables));
      expectFailure(end, { code: 2, what, where, fix });
    }
    expect((await own.succeed(['config', 'show', 'session', '--budget', '9', '--set', 'budget.rollouts=9'])).code).toBe(
      0,
    );
  });
});

describe('run --set', () => {
  test('on a new session counts, stands, and is refused later where it would be another session', async () => {
    const own = new OwnSession(new Place());
    const args = ['run', 'session', '--set', 'gate.rule=bold', '--set', 'budget.rollouts=60', '--set', 'workers=2'];
    const end = await own.place.succeed(args, withEnv(own, { SKILLOPT_SEARCH_DRY_ROUNDS: '3' }));
    expect(end.stdout).toContain('gate bold · budget 60 rollouts');
    expect(end.stdout).toContain('workers     2 rollouts at a time');
    expect(created(own).config.search.dryRounds).toBe(3);

    const env = withEnv(own, { SKILLOPT_SEARCH_DRY_ROUNDS: '3' });
    const rows = rowsOf(jsonOf(await own.place.succeed(['config', 'show', 'session', '--json'], env)));
    for (const [key, value] of [
      ['gate.rule', 'bold'],
      ['budget.rollouts', 60],
      ['workers', 2],
    ] as const)
      expect(rows.get(key)).toMatchObject({ value, source: { kind: 'log' } });

    const before = own.place.read('session', 'skillopt.jsonl');
    const other = await own.place.run(['run', 'session', '--set', 'gate.rule=careful'], env);
    expectFailure(other, {
      code: 5,
      what: /another session: gate\.rule \(was "bold", is "careful"\)$/,
      where: /^--set gate\.rule=careful$/,
      fix: /skillopt fork .* --set gate\.rule=careful/,
    });
    expect(own.place.read('session', 'skillopt.jsonl')).toBe(before);
    const shown = await own.place.succeed(['config', 'show', 'session', '--set', 'gate.rule=careful'], env);
    expect(shown.stdout).toContain('run will refuse this: ');

    const late = await own.run(['run', 'session']); // the variable is gone, which is as a changed file
    expectFailure(late, {
      code: 5,
      what: /search\.dryRounds \(was 3, is 2\)/,
      where: /skillopt\.config\.json$/,
      fix: /^set it back, /,
    });
    const final = await own.place.succeed(['finalize', 'session', '--set', 'finalize.attempts=2'], env);
    expect(final.stdout).toContain('sealed test');
    expect(own.place.events('session').find((e) => e.type === 'finalize.started')?.attempts).toBe(2);
    expect(own.place.read('session', 'skillopt.md')).toContain(
      'The intervals are too narrow: 2 attempts a task count as so many tasks.',
    );
    await own.succeed(['verify', 'session']);

    const forked = await own.place.succeed(
      ['fork', 'session', '--to', 'child', '--set', 'gate.rule=careful', '--set', 'workers=3'],
      env,
    );
    expect(forked.stdout).toContain('gate.rule "bold" → "careful"');
    const written = JSON.parse(own.place.read('child', 'skillopt.config.json'));
    expect(written).toMatchObject({ gate: { rule: 'careful' }, workers: 3, skill: '../post-office' });
    expect((await own.place.succeed(['run', 'child'], env)).stdout).toContain('workers     3 rollouts at a time');
  });

  test('gives what the file lacks, whole or in parts', async () => {
    const own = new OwnSession(new Place());
    own.configure({ optimizer: undefined, splits: undefined });
    const splits = Object.entries(config.splits).flatMap(([k, ids]) => ['--set', `splits.${k}=${JSON.stringify(ids)}`]);
    await own.succeed(['run', 'session', '--set', 'optimizer=rehearsal', '--set', 'gate={"rule":"bold"}', ...splits]);
    expect(created(own).config).toMatchObject({
      optimizer: 'rehearsal',
      splits: config.splits,
      gate: { rule: 'bold' },
    });
  });
});

describe('env.out_root', () => {
  test('lays the session out elsewhere, where paths mean the same', async () => {
    const own = new OwnSession(new Place());
    const args = ['--cfg-options', 'env.workers=3', 'env.out_root=outputs/deep/one'];
    const end = await own.succeed(['run', 'session', ...args]);
    expect(end.stdout).toContain('taken       env.workers=3 is workers=3\n');
    expect(end.stdout).toContain('taken       env.out_root is the session’s directory: outputs/deep/one\n');
    expect(end.stdout.match(/env\.workers=3 is workers=3/g)).toHaveLength(1);
    expect(own.has('skillopt.jsonl')).toBe(false);
    expect(JSON.parse(own.place.read('outputs/deep/one/skillopt.config.json'))).toMatchObject({
      skill: '../../../post-office',
      pack: '../../../pack',
    });
    const lines = own.place.lines('outputs/deep/one');
    await own.succeed(['run', 'session', ...args]); // goes on, as it has ended: nothing more to do
    await own.succeed(['run', 'outputs/deep/one']);
    expect(
      own.place
        .events('outputs/deep/one')
        .slice(lines)
        .every((e) => e.type === 'session.resumed'),
    ).toBe(true);
    const final = await own.succeed(['finalize', 'session', ...args]);
    expect(final.stdout).toContain('sealed test');
    await own.succeed(['verify', 'outputs/deep/one']);
    own.configure({ seed: 'other' });
    expectFailure(await own.run(['run', 'session', ...args]), {
      code: 5,
      what: /says something else: seed/,
      where: /outputs\/deep\/one\/skillopt\.config\.json$/,
      fix: /skillopt run outputs\/deep\/one/,
    });
  });

  test('is not laid out by a config that is refused, nor by a look at it', async () => {
    const own = new OwnSession(new Place());
    const args = ['session', '--cfg-options', 'env.out_root=out'];
    expect((await own.run(['run', ...args, '--set', 'workers=0'])).code).toBe(2);
    const shown = await own.succeed(['config', 'show', ...args]);
    expect(shown.stdout).toMatch(/^skill +"\.\.\/post-office" /m);
    expect(existsSync(own.place.path('out'))).toBe(false);
  });
});

describe('the JSON Schema', () => {
  const name = 'skillopt.config.schema.json';

  test('lies beside the config of a session that has begun, as config schema prints it', async () => {
    const own = new OwnSession(new Place());
    const printed = JSON.parse((await own.succeed(['config', 'schema'])).stdout);
    expect(own.has(name)).toBe(false);
    await own.succeed(['run', 'session']);
    const { $comment, ...written } = JSON.parse(own.place.read('session', name));
    expect([typeof $comment, written]).toEqual(['string', printed]);
    expect((await own.succeed(['config', 'schema', 'session', '--write'])).stdout).toContain('(as it was)');
    own.configure({ $schema: `./${name}` });
    await own.succeed(['run', 'session']);
  });

  test('never takes the place of a file of yours', async () => {
    const own = new OwnSession(new Place());
    const file = join(own.place.path('session'), name);
    writeFileSync(file, '{"mine": true}\n');
    await own.succeed(['run', 'session']);
    expectFailure(await own.run(['config', 'schema', 'session', '--write']), {
      code: 2,
      what: /file of yours/,
      where: /skillopt\.config\.schema\.json$/,
      fix: /^move it away, /,
    });
    expect(own.place.read('session', name)).toBe('{"mine": true}\n');
  });

  test('is written only where a config lies', async () => {
    const place = new Place();
    expectFailure(await place.run(['config', 'schema', '--write']), {
      code: 2,
      what: /no config/,
      where: /work$/,
      fix: /name the directory/,
    });
    expect(readdirSync(place.dir)).toEqual([]);
  });
});
