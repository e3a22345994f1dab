import { describe, expect, test } from 'bun:test';
import { SkilloptError } from '../ports/failure.ts';
import { configKeys, describedAt } from './keys.ts';
import {
  configOfLayers,
  configRows,
  type Layers,
  layersOf,
  type Override,
  placeOf,
  sourceOf,
  withOverrides,
} from './layers.ts';
import { environmentOverrides, setOverrides, variableOf } from './overrides.ts';

type Json = Readonly<Record<string, unknown>>;

const least = { skill: 's', pack: 'p', agent: 'nop', optimizer: 'rehearsal' };
const lists = { train: ['a', 'b'], selection: ['c', 'd'], test: ['e', 'f'] };
const ofModel = (key: string): Readonly<Record<string, readonly [unknown, unknown]>> => ({
  [key]: ['p/one', { model: 'p/two', tools: false }],
  [`${key}.model`]: ['p/one', 'p/two'],
  [`${key}.baseUrl`]: ['http://one.example/v1', 'http://two.example/v1'],
  [`${key}.keyEnv`]: ['ONE', null],
  [`${key}.command`]: [['one'], ['two', '-p']],
  [`${key}.maxOutputTokens`]: [100, 200],
  [`${key}.temperature`]: [0, 0.5],
  [`${key}.sendSeed`]: [false, true],
  [`${key}.protocols`]: [['chat'], ['messages', 'responses']],
  [`${key}.contextTokens`]: [1000, 2000],
  [`${key}.tools`]: [true, false],
  [`${key}.price.input`]: [1, 2],
  [`${key}.price.output`]: [3, 4],
  [`${key}.firstByteSec`]: [5, 6],
  [`${key}.betweenSec`]: [7, 8],
});

/** Two values for every key that can have two, the second of which is no default. */
const values: Readonly<Record<string, readonly [unknown, unknown]>> = {
  $schema: ['./a.json', './b.json'],
  skill: ['one', '2024'],
  pack: ['one', 'a folder/with "words"'],
  backend: ['local', 'chat'],
  agent: ['oracle', 'rehearsal'],
  'agent.name': ['one', 'two'],
  'agent.command': [
    ['one', '{skill_dir}'],
    ['two', '{skill_dir}', '{instruction_file}'],
  ],
  'agent.skills': [null, '.agents/skills'],
  'agent.protocol': ['chat', 'messages'],
  'agent.env': [{ A: '{base_url}' }, { B: '{base_url} {model}' }],
  'agent.files': [{ '.a': 'a' }, { '.b': '{base_url}' }],
  'agent.version': [['one'], ['two', '-v']],
  ...ofModel('model'),
  login: ['key', 'subscription'],
  'agentLimits.requests': [null, 10],
  'agentLimits.tokens': [null, 1000],
  'agentLimits.usd': [null, 0.5],
  'sandbox.kind': ['auto', 'none'],
  'sandbox.network': ['off', 'on'],
  'sandbox.show': [[], ['/opt/tools']],
  'sandbox.processes': [512, 64],
  'sandbox.fileMb': [1000, 10],
  'sandbox.diskMb': [4000, 100],
  'sandbox.keepMb': [200, 0],
  'harbor.program': ['harbor', '/opt/harbor/bin/harbor'],
  'harbor.mountAgent': [false, true],
  'harbor.mounts': [[], [{ source: 'tools', target: '/opt/tools' }]],
  'harbor.agentKwargs': [{}, { version: '2.1.332' }],
  'harbor.environmentKwargs': [{}, { keep_containers: true }],
  'harbor.pythonPath': [[], ['classes']],
  'harbor.setupSec': [null, 600],
  'preloads.skills': [[], ['../other']],
  'preloads.npm': [[], ['prettier@3.6.2']],
  'preloads.pip': [[], ['pandas==2.3.3']],
  'preloads.apt': [[], ['jq']],
  'preloads.commands': [[], ['jq']],
  'preloads.env': [[], ['MY_NAME']],
  'preloads.setup': [[], ['echo hello > "$PREFIX/x"']],
  'preloads.mcp': [{}, { docs: { url: 'http://localhost:1/mcp' } }],
  'preloads.machine.skills': [[], ['mine']],
  'preloads.machine.memory': [false, true],
  'preloads.machine.mcp': [[], ['mine']],
  ...ofModel('optimizer'),
  optimize: ['body', 'description'],
  'reflection.agentSec': [900, 60.5],
  'reflection.form': ['auto', 'one-shot'],
  'reflection.maxCalls': [24, 3],
  'reflection.minibatchSize': [null, 3],
  'reflection.readers': [1, 2],
  taskLimit: [null, 5],
  allowUnsandboxed: [false, true],
  seed: ['one', '7'],
  splits: [{ ratio: { train: 1, selection: 1, test: 1 } }, lists],
  'splits.ratio.train': [1, 2],
  'splits.ratio.selection': [1, 3],
  'splits.ratio.test': [1, 4],
  'splits.train': [
    ['a', 'b'],
    ['a', 'x'],
  ],
  'splits.selection': [
    ['c', 'd'],
    ['c', 'x'],
  ],
  'splits.test': [
    ['e', 'f'],
    ['e', 'x'],
  ],
  'gate.rule': ['balanced', 'careful'],
  'gate.metric': ['hard', 'soft'],
  'gate.passThreshold': [1, 0.5],
  editBudget: [null, 4],
  'editBudget.schedule': ['linear', 'cosine'],
  'editBudget.max': [6, 5],
  'editBudget.min': [1, 2],
  'search.draftSize': [8, 2],
  'search.dryRounds': [12, 3],
  'search.memory': [true, false],
  'search.steps': [null, 3],
  'search.epochs': [null, 2],
  'search.batchSize': [null, 4],
  slowUpdate: [false, true],
  'budget.rollouts': [400, 100],
  'limits.rollouts': [null, 900],
  'limits.minutes': [5, 10.5],
  'limits.usd': [null, 5],
  'limits.tokens': [1000, 2000],
  workers: [null, 4],
  'timeouts.agentSec': [null, 30],
  'finalize.attempts': [1, 3],
};

/** Every key but the one that has a single value. */
const keys = configKeys.filter((key) => key !== 'version');

/** A file in which the key may be set by itself. */
function around(key: string): Json {
  const [top = '', ...rest] = key.split('.');
  if (rest.length === 0) return least;
  if (top === 'model' || top === 'optimizer') {
    const price = rest[0] === 'price' ? { price: { input: 0, output: 0 } } : {};
    return { ...least, [top]: { model: 'p/m', ...price } };
  }
  if (top === 'agent') {
    const agent = { name: 'one', command: ['one', '{skill_dir}'], protocol: 'gemini', env: { X: '{base_url}' } };
    return { ...least, agent };
  }
  if (top === 'editBudget') return { ...least, editBudget: { schedule: 'linear', max: 6, min: 1 } };
  if (top === 'splits' && rest[0] !== 'ratio') return { ...least, splits: lists };
  return least;
}

function at(data: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((x, k) => (x as Json | undefined)?.[k], data);
}

/** The file with the key written into it by hand. */
function fileWith(key: string, value: unknown): Layers {
  const data = structuredClone(around(key)) as Record<string, unknown>;
  const path = key.split('.');
  let inner = data;
  for (const k of path.slice(0, -1)) {
    inner[k] ??= k === 'ratio' ? { train: 1, selection: 1, test: 1 } : k === 'splits' ? {} : {};
    inner = inner[k] as Record<string, unknown>;
  }
  inner[path.at(-1) ?? ''] = value;
  if (key.startsWith('splits.ratio'))
    data.splits = { ratio: { train: 1, selection: 1, test: 1, ...(at(data, 'splits.ratio') as Json) } };
  return layersOf(data, { kind: 'file', path: 'the.json' }, 'the.json');
}

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const variable = (key: string, value: unknown) => environmentOverrides({ [variableOf(key)]: text(value) });
const set = (key: string, value: unknown) => setOverrides([`${key}=${text(value)}`]);
const plainFile = (key: string) => layersOf(around(key), { kind: 'file', path: 'the.json' }, 'the.json');

function failureOf(layers: () => unknown) {
  try {
    layers();
  } catch (e) {
    if (e instanceof SkilloptError) return e.failure;
  }
  throw new Error('nothing failed');
}

describe('each key', () => {
  test('has two values in this table, and a meaning', () => {
    expect(Object.keys(values).sort()).toEqual([...keys].sort());
    expect(configKeys.filter((key) => describedAt(key) === '')).toEqual([]);
  });

  test.each(keys)('%s is what the highest layer says, with its source', (key) => {
    const [one, two] = values[key] ?? [];
    const expectIs = (layers: Layers, value: unknown, kind: string) => {
      expect(at(configOfLayers(layers), key)).toEqual(value);
      const leaf = configRows(configOfLayers(layers), layers).find((r) => r.key === key || r.key.startsWith(`${key}.`));
      expect(leaf?.source.kind).toBe(kind as 'file');
    };
    expect(at(configOfLayers(plainFile(key)), key)).not.toEqual(two); // so that the file's effect is seen
    expectIs(fileWith(key, two), two, 'file');
    expectIs(withOverrides(fileWith(key, one), set(key, two)), two, 'flag');
    expectIs(withOverrides(plainFile(key), set(key, two)), two, 'flag');
    if (key.startsWith('$')) return;
    expectIs(withOverrides(fileWith(key, one), variable(key, two)), two, 'environment');
    expectIs(withOverrides(fileWith(key, two), variable(key, one)), one, 'environment');
    expectIs(withOverrides(fileWith(key, one), [...variable(key, one), ...set(key, two)]), two, 'flag');
    expectIs(withOverrides(fileWith(key, two), [...variable(key, two), ...set(key, one)]), one, 'flag');
  });
});

describe('an override', () => {
  const configOf = (file: Json, ...texts: string[]) => {
    const layers = withOverrides(layersOf(file, { kind: 'file', path: 'f' }, 'f'), setOverrides(texts));
    return { config: configOfLayers(layers), layers };
  };

  test('of a whole object replaces it; a part goes into it', () => {
    const gate = { rule: 'bold', metric: 'soft' };
    expect(configOf({ ...least, gate }, 'gate={"rule":"careful"}').config.gate).toMatchObject({
      rule: 'careful',
      metric: 'hard',
    });
    expect(configOf({ ...least, gate }, 'gate.rule=careful').config.gate).toMatchObject({
      rule: 'careful',
      metric: 'soft',
    });
  });

  test('of a part makes the model of a name an object, whose name keeps its source', () => {
    const { config, layers } = configOf({ ...least, model: 'p/m' }, 'model.baseUrl=http://localhost:1/v1');
    expect(config.model).toEqual({ model: 'p/m', baseUrl: 'http://localhost:1/v1' });
    expect([sourceOf(layers, 'model.model').kind, sourceOf(layers, 'model.baseUrl').kind]).toEqual(['file', 'flag']);
  });

  test('gives one form in place of another', () => {
    const texts = Object.entries(lists).map(([k, ids]) => `splits.${k}=${JSON.stringify(ids)}`);
    expect(
      configOf({ ...least, splits: { ratio: { train: 2, selection: 1, test: 1 } } }, ...texts).config.splits,
    ).toEqual(lists);
    expect(configOf(least, 'splits.ratio.train=3').config.splits).toEqual({
      ratio: { train: 3, selection: 1, test: 1 },
    });
  });

  test('leaves the data of the file alone', () => {
    const file = { ...least, gate: { rule: 'bold' } };
    const before = structuredClone(file);
    configOf(file, 'gate.rule=careful', 'budget.rollouts=5');
    expect(file).toEqual(before);
  });

  test.each([
    ['budget.rollouts=abc', 'budget.rollouts can’t be that', '--set budget.rollouts=abc'],
    ['gate.rule=strict', 'gate.rule can’t be that', '--set gate.rule=strict'],
    ['gate={"ruel":"bold"}', 'unknown key gate.ruel', `--set 'gate={"ruel":"bold"}'`],
    ['model=[5]', 'model is neither a name nor an object', "--set 'model=[5]'"],
    ['model.baseUrl=localhost:1', 'model.baseUrl', '--set model.baseUrl=localhost:1'],
    ['editBudget.max=6', 'editBudget.', '--set editBudget.max=6'],
    ['workers=1.5', 'workers can’t be that', '--set workers=1.5'],
  ])('that can’t be names the key, the value and the flag, not the file: %s', (given, what, where) => {
    const failure = failureOf(() => configOf({ ...least, model: 'p/m' }, given));
    expect(failure.what).toStartWith(what);
    expect(failure).toMatchObject({ code: 'config', where });
  });

  test('that can’t be names the variable, and what else is wrong its own place', () => {
    const base = layersOf({ ...least, budgt: 1 }, { kind: 'file', path: 'f' }, 'f');
    const env = environmentOverrides({ SKILLOPT_WORKERS: 'many', SKILLOPT_SEED: '' });
    const failure = failureOf(() => configOfLayers(withOverrides(base, env)));
    expect(failure).toMatchObject({ where: 'f', fix: 'did you mean budget?' });
    expect(failure.what).toContain('workers can’t be that');
    expect(failure.what).toContain('(SKILLOPT_WORKERS=many)');
  });

  test('a key that nobody gave is missing in the file', () => {
    const layers = withOverrides(layersOf({ skill: 's' }, { kind: 'file', path: 'f' }, 'f'), setOverrides(['pack=p']));
    expect(failureOf(() => configOfLayers(layers))).toMatchObject({ what: 'optimizer is missing', where: 'f' });
    expect(placeOf(layers, 'pack')).toBe('--set pack=p');
  });
});

test('an override that takes a key out leaves the default', () => {
  const file = layersOf({ ...least, workers: 3 }, { kind: 'file', path: 'f' }, 'f');
  const out: Override = { key: 'workers', value: undefined, source: { kind: 'log', path: 'l' } };
  const layers = withOverrides(file, [out]);
  expect([configOfLayers(layers).workers, sourceOf(layers, 'workers').kind]).toEqual([null, 'default']);
});
