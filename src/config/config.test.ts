import { describe, expect, test } from 'bun:test';
import { SkilloptError } from '../ports/failure.ts';
import { differences } from './differences.ts';
import { hostEnvironment, namedSecrets } from './environment.ts';
import { checkConfig, loadConfig, parseConfig } from './load.ts';
import { nearest } from './nearest.ts';

const least = { skill: 's', pack: 'p', agent: 'nop', optimizer: 'rehearsal' };
const failureOf = (data: unknown) => {
  try {
    checkConfig(data, 'the.json');
  } catch (e) {
    if (e instanceof SkilloptError) return e.failure;
  }
  throw new Error('nothing failed');
};

describe('the config', () => {
  test('has a default for everything but skill, pack, agent and optimizer', () => {
    expect(checkConfig(least, 'x')).toMatchObject({
      version: 1,
      backend: 'local',
      gate: { rule: 'balanced', metric: 'hard', passThreshold: 1 },
      search: { draftSize: 8, dryRounds: 12, memory: true, steps: null, epochs: null, batchSize: null },
      reflection: { form: 'auto', maxCalls: 24, minibatchSize: null, readers: 1, agentSec: 900 },
      taskLimit: null,
      budget: { rollouts: 400 },
      limits: { rollouts: null, minutes: null },
      splits: { ratio: { train: 1, selection: 1, test: 1 } },
    });
    expect(checkConfig({ ...least, gate: { rule: 'bold' } }, 'x').gate).toEqual({
      rule: 'bold',
      metric: 'hard',
      passThreshold: 1,
    });
    expect(checkConfig({ ...least, seed: 7 }, 'x').seed).toBe('7');
  });

  test.each([
    [{ ...least, budgt: {} }, 'unknown key budgt', 'did you mean budget?'],
    [{ ...least, gate: { metrik: 'hard' } }, 'unknown key gate.metrik', 'did you mean gate.metric?'],
    [
      { ...least, search: { zzzzzz: 1 } },
      'unknown key search.zzzzzz',
      'the keys here are draftSize, dryRounds, memory',
    ],
    [{ ...least, taskLimit: 1 }, 'taskLimit', 'it has to be a whole number of at least 2, or null'],
    [{ ...least, search: { step: 3 } }, 'unknown key search.step', 'did you mean search.steps?'],
    [{ ...least, reflection: { readers: 17 } }, 'reflection.readers', 'it has to be a whole number from 1 to 16'],
    [{ ...least, gate: { rule: 'strict' } }, 'gate.rule', 'use one of balanced, bold, careful, skillopt'],
    [{ ...least, splits: { train: ['a'] } }, 'splits is neither', 'ratio'],
    [{ ...least, budget: { rollouts: 0 } }, 'budget.rollouts', 'it has to be a whole number of at least 1'],
    [{ ...least, limits: { usd: 0 } }, 'limits.usd', 'it has to be a number above 0, or null'],
    [{ ...least, limits: null }, 'limits', 'it has to be an object of rollouts, minutes, usd, tokens'],
    [{ ...least, skill: '' }, 'skill', 'it has to be a text that is not empty'],
    [{ ...least, slowUpdate: 'yes' }, 'slowUpdate', 'it has to be true or false'],
    [{ ...least, version: 2 }, 'version', 'use one of 1'],
    [{ pack: 'p', agent: 'a', optimizer: 'o' }, 'skill', 'add "skill": …'],
    [null, 'the config', 'correct the config'],
    [{ ...least, editBudget: 'x' }, 'editBudget is neither', '"schedule"'],
    [{ ...least, editBudget: { schedule: 'liner', max: 3, min: 1 } }, 'editBudget.schedule', 'linear'],
    [{ ...least, editBudget: { schedule: 'linear', max: 3 } }, 'editBudget.min is missing', 'add "editBudget.min"'],
    [{ ...least, editBudget: { schedule: 'linear', max: 1, min: 3 } }, '"min" is more', 'editBudget.min'],
    [{ ...least, model: 5 }, 'model is neither', '"provider/model"'],
    [{ ...least, model: { modle: 'a/b' } }, 'unknown key model.modle', 'did you mean model.model?'],
    [{ ...least, model: { model: 'a/b', baseUrl: 'localhost:8000' } }, 'model.baseUrl', 'model.baseUrl'],
    [{ ...least, optimizer: { model: 'a/b', price: { input: 1 } } }, 'optimizer.price.output is missing', 'add'],
    [{ ...least, limits: { dollars: 3 } }, 'unknown key limits.dollars', 'usd, tokens'],
  ])('%j names what is wrong and the fix', (data, what, fix) => {
    const failure = failureOf(data);
    expect(failure.code).toBe('config');
    expect(failure.what).toContain(what);
    expect(failure.fix).toContain(fix);
    expect(failure.where).toBe('the.json');
  });

  test('a key in place of the name of its variable is not repeated', () => {
    const failure = failureOf({ ...least, model: { model: 'a/b', keyEnv: 'sk-ant-very-secret' } });
    expect(failure.what).toContain('never a key');
    expect(JSON.stringify(failure)).not.toContain('very-secret');
  });

  test('a name or a password in an address is refused, and not repeated', () => {
    for (const login of ['joe:very-secret@', ':very-secret@', 'very-secret@']) {
      const failure = failureOf({ ...least, optimizer: { model: 'a/b', baseUrl: `https://${login}host/v1` } });
      expect(failure.what).toContain('optimizer.baseUrl: holds a name or a password');
      expect(JSON.stringify(failure)).not.toContain('very-secret');
    }
  });

  test('several faults are told at once', () => {
    expect(failureOf({ ...least, aa: 1, bb: 2 }).what).toMatch(/unknown key aa.*unknown key bb/);
  });

  test('text that is not JSON, and no file', () => {
    expect(() => parseConfig('{', 'x.json')).toThrow(/not JSON/);
    expect(() => loadConfig('/does/not/exist.json')).toThrow(/no config/);
  });
});

describe('differences', () => {
  const was = JSON.parse(JSON.stringify(checkConfig(least, 'x')));

  test('none between a config and its copy from a log', () => {
    expect(differences(was, checkConfig(least, 'x'))).toEqual({ inPlace: [], fork: [] });
  });

  test('budget, limits and workers change in place; all else is a fork', () => {
    const is = checkConfig(
      { ...least, agent: 'oracle', budget: { rollouts: 9 }, workers: 3, gate: { rule: 'bold' } },
      'x',
    );
    const { inPlace, fork } = differences(was, is);
    expect(inPlace.map((d) => d.key).sort()).toEqual(['budget.rollouts', 'workers']);
    expect(fork).toEqual([
      { key: 'agent', was: 'nop', is: 'oracle' },
      { key: 'gate.rule', was: 'balanced', is: 'bold' },
    ]);
  });

  test('how a model is reached and paid may change, what answers may not', () => {
    const model = { model: 'openai-compatible/x', baseUrl: 'http://localhost:1/v1' };
    const before = checkConfig({ ...least, optimizer: { ...model, price: { input: 1, output: 2 } } }, 'x');
    const after = { ...model, keyEnv: 'OTHER_KEY', price: { input: 3, output: 4 }, firstByteSec: 5 };
    expect(differences(before, checkConfig({ ...least, optimizer: after }, 'x')).fork).toEqual([]);
    const moved = { ...after, baseUrl: 'http://localhost:2/v1' };
    expect(differences(before, checkConfig({ ...least, optimizer: moved }, 'x')).fork.map((d) => d.key)).toEqual([
      'optimizer.baseUrl',
    ]);
  });

  test('a ratio in place of lists is a difference', () => {
    const lists = checkConfig({ ...least, splits: { train: ['a'], selection: ['b'], test: ['c'] } }, 'x');
    expect(differences(was, lists).fork.length).toBeGreaterThan(0);
  });
});

test('nearest word, within reason', () => {
  expect(nearest('verfy', ['verify', 'run'])).toBe('verify');
  expect(nearest('xyz', ['verify', 'run'])).toBeNull();
});

test('secrets are known by the names of their variables', () => {
  const env = {
    MY_API_KEY: 'abcdef123',
    PATH: '/usr/bin/and/more',
    GITHUB_TOKEN: 'x',
    DB_PASSWORD: 'hunter22',
    AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
    GITHUB_PAT: 'ghp_0123456789',
    FOO_KEY: 'harborharbor',
  };
  expect(namedSecrets(env).map((s) => s.name)).toEqual([
    'MY_API_KEY',
    'DB_PASSWORD',
    'AWS_ACCESS_KEY_ID',
    'GITHUB_PAT',
  ]);
  expect(hostEnvironment().PATH?.length).toBeGreaterThan(0);
});
