import { expect, test } from 'bun:test';
import { checkConfig } from '../config/load.ts';
import { costText, estimateTexts, evalEstimateTexts } from '../events/estimate-words.ts';
import { unknownCostText } from '../events/words.ts';
import { chargesOf, estimateBefore, estimateEvalBefore, rolesOf } from './estimate-of.ts';
import { priced } from './models.ts';

const configOf = (more: object = {}) =>
  checkConfig(
    {
      skill: 's',
      pack: 'p',
      agent: 'codex',
      login: 'subscription',
      model: 'openai/gpt-5.5',
      optimizer: 'agent',
      ...more,
    },
    'config',
  );

const tasks = [] as const;
const share = 'a share of a subscription, how much can’t be told: codex (openai/gpt-5.5)';

test('rollouts of an agent with its own login are estimated, and cost a share of its subscription', async () => {
  const config = configOf();
  expect(rolesOf(config).target).toEqual({ id: 'codex (openai/gpt-5.5)', takesTools: false });
  expect(await chargesOf(config)).toEqual({ target: { kind: 'subscription' }, optimizer: { kind: 'subscription' } });
  const job = { config, tasks, skillText: 'x'.repeat(500), splits: { train: 4, test: 4 }, consumed: 0 };
  const estimate = await estimateBefore({ ...job, finalize: true, workers: 2 }, rolesOf(config), []);
  expect(costText(estimate)).toBe(share);
  expect(estimateTexts(estimate).join('\n')).toMatch(/about [\d.]+ (k|million) to [\d.]+ (k|million) tokens/);
  const target = rolesOf(config).target;
  if (target === null) throw new Error('nobody does the tasks');
  const ofEval = await estimateEvalBefore({ config, tasks, arms: [{ text: '' }], attempts: 3, workers: 2 }, target, []);
  expect(evalEstimateTexts(ofEval).join('\n')).toContain(share);
});

test('without a model the agent stands for it; with a key the model does', async () => {
  expect(rolesOf(configOf({ model: null })).target?.id).toBe('codex');
  const keyed = configOf({ login: 'key', optimizer: 'rehearsal' });
  expect(rolesOf(keyed).target?.id).toBe('openai/gpt-5.5');
  expect((await chargesOf(keyed)).target.kind).not.toBe('subscription');
});

test('no limit on dollars can be held where none are spent', async () => {
  const limited = { rollouts: null, minutes: null, usd: 5 };
  expect(await priced(configOf({ limits: limited }), []).preflight()).toEqual([
    {
      level: 'error',
      what: 'limits.usd can’t be held: codex spends a share of its login’s subscription, and no dollars',
      where: 'limits.usd',
      fix: 'limit tokens, rollouts or minutes instead',
    },
  ]);
  expect(await priced(configOf({ limits: limited, login: 'key', optimizer: 'rehearsal' }), []).preflight()).toEqual([]);
  expect(await priced(configOf(), []).preflight()).toEqual([]);
});

test('where no cost is known it is said why', () => {
  expect(unknownCostText({ config: { login: 'subscription' } })).toBe('a share of a subscription');
  expect(unknownCostText({ config: { login: 'key' } })).toBe('cost unknown');
  expect(unknownCostText(null)).toBe('cost unknown');
});
