import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SkilloptError } from '../ports/failure.ts';
import { aliases, cfgOptions } from './cfg-options.ts';
import { configKeys, keysAt, schemaAt, unknownKey } from './keys.ts';
import { environmentOverrides, setOverrides, variableOf, variables } from './overrides.ts';

function failureOf(work: () => unknown) {
  try {
    work();
  } catch (e) {
    if (e instanceof SkilloptError) return e.failure;
  }
  throw new Error('nothing failed');
}

describe('the keys', () => {
  test('have one variable each, and no two the same', () => {
    const named = configKeys.filter((key) => !key.startsWith('$'));
    expect(new Set(named.map(variableOf)).size).toBe(named.length);
    expect([...variables.values()]).toEqual(named);
    expect(named.filter((key) => !/^SKILLOPT_[A-Z]+(_[A-Z]+)*$/.test(variableOf(key)))).toEqual([]);
    expect(variableOf('search.draftSize')).toBe('SKILLOPT_SEARCH_DRAFT_SIZE');
  });

  test('hold every part of every group, and groups are no keys', () => {
    for (const key of configKeys) expect(schemaAt(key)).not.toBeNull();
    expect(keysAt([]).filter((key) => !configKeys.some((k) => k === key || k.startsWith(`${key}.`)))).toEqual([]);
    expect(configKeys).toContain('model.price.input');
    expect(configKeys).not.toContain('budget');
  });

  /** One letter apart: what is one letter off one of them may be one off the other. */
  const alike = ['optimize', 'optimizer'];

  test('a key with one letter wrong, doubled or missing is told as what was meant', () => {
    const long = configKeys.filter((key) => (key.split('.').at(-1) ?? '').length > 4 && key !== 'model');
    fc.assert(
      fc.property(fc.constantFrom(...long), fc.nat(), fc.constantFrom('drop', 'double', 'swap'), (key, n, how) => {
        const start = key.lastIndexOf('.') + 1;
        const i = start + (n % (key.length - start));
        const c = key.charAt(i);
        const typo = key.slice(0, i) + (how === 'drop' ? '' : how === 'double' ? c + c : 'q') + key.slice(i + 1);
        if (schemaAt(typo) !== null) return;
        expect(failureOf(() => setOverrides([`${typo}=1`]))).toMatchObject({
          code: 'config',
          what: `unknown key ${typo}`,
          fix: expect.stringMatching(
            new RegExp(`^did you mean (${alike.includes(key) ? alike.join('|') : RegExp.escape(key)})\\?$`),
          ),
        });
      }),
    );
  });

  test.each([
    ['budgt.rollouts', 'did you mean budget.rollouts?'],
    ['draftSize', 'did you mean search.draftSize?'],
    ['skill.x', 'skill has no keys of its own'],
    ['gate.zzzzzzzzzzzzzz', 'the keys of gate are rule, metric, passThreshold'],
  ])('an unknown one is told with the nearest: %s', (key, fix) => {
    expect(unknownKey(key)).toEqual({ what: `unknown key ${key}`, fix });
  });
});

describe('a value', () => {
  const valueIn = (text: string) => setOverrides([text])[0]?.value;

  test.each([
    ['budget.rollouts=100', 100],
    ['search.memory=false', false],
    ['model=null', null],
    ['model={"model":"a/b"}', { model: 'a/b' }],
    ['skill=../my skill', '../my skill'],
    ['skill=a=b', 'a=b'],
    ['skill=', ''],
    ['agent=true', 'true'],
    ['pack=2024', '2024'],
    ['limits.usd=abc', 'abc'],
    ['splits.train=["a","b"]', ['a', 'b']],
  ])('is JSON where it is some that fits, else text: %s', (given, value) => {
    expect(valueIn(given)).toEqual(value);
  });

  test.each(['budget.rollouts', '=5', 'session'])('%p is no pair', (text) => {
    expect(failureOf(() => setOverrides([text])).code).toBe('usage');
  });

  test('that may be a key is not repeated', () => {
    const [o] = setOverrides(['model.keyEnv=sk-ant-very-secret']);
    expect(JSON.stringify(o?.source)).not.toContain('very-secret');
    const [v] = environmentOverrides({ SKILLOPT_MODEL_BASE_URL: 'https://joe:very-secret@host/v1' });
    expect(JSON.stringify(v?.source)).not.toContain('very-secret');
  });
});

describe('the environment', () => {
  test('sets what its variables name; empty ones set nothing', () => {
    const env = {
      SKILLOPT_BUDGET_ROLLOUTS: '100',
      SKILLOPT_SEED: '',
      PATH: '/bin',
      SKILLOPT_MODEL_BASE_URL: 'http://h/',
    };
    expect(environmentOverrides(env).map(({ key, value }) => [key, value])).toEqual([
      ['model.baseUrl', 'http://h/'],
      ['budget.rollouts', 100],
    ]);
  });

  test.each([
    ['SKILLOPT_BUDGET_ROLOUTS', 'did you mean SKILLOPT_BUDGET_ROLLOUTS? Otherwise unset it'],
    ['SKILLOPT_BUDGET', 'the names are SKILLOPT_BUDGET_ROLLOUTS; otherwise unset it'],
    ['SKILLOPT_GATE_STRICTNESS', 'the names are SKILLOPT_GATE_RULE'],
    ['SKILLOPT_WORKER', 'did you mean SKILLOPT_WORKERS?'],
  ])('refuses %s, which looks like a key and is none', (name, fix) => {
    const failure = failureOf(() => environmentOverrides({ [name]: '1' }));
    expect(failure).toMatchObject({ code: 'config', where: name });
    expect(failure.fix).toStartWith(fix);
  });

  test.each(['SKILLOPT_ROLLOUT', 'SKILLOPT_SLEEP_WORKERS', 'SKILLOPT_REPO', 'SKILLOPT_HOST_AUTH', 'SKILLOPTIMIZER'])(
    'leaves %s, which is no key of ours, to whom it belongs',
    (name) => {
      expect(environmentOverrides({ [name]: '1' })).toEqual([]);
    },
  );
});

/** Names of SkillOpt's own config, as its `config.py` and its default.yaml have them at `bdfdc30`. */
const names = `model.backend model.optimizer model.target model.optimizer_backend model.target_backend
  model.reasoning_effort model.rewrite_reasoning_effort model.rewrite_max_completion_tokens model.codex_exec_path
  model.claude_code_exec_effort model.azure_openai_endpoint model.azure_openai_api_key model.qwen_chat_base_url
  model.target_qwen_chat_temperature model.qwen_chat_thinking_mode model.minimax_max_tokens model.copilot_chat_timeout
  train.train_size train.steps_per_epoch train.accumulation train.seed gradient.merge_batch_size gradient.failure_only
  optimizer.min_learning_rate optimizer.lr_scheduler optimizer.lr_control_mode optimizer.skill_update_mode
  optimizer.meta_learning_rate optimizer.use_slow_update optimizer.slow_update_samples
  optimizer.slow_update_gate_with_selection optimizer.longitudinal_pair_policy optimizer.use_meta_skill
  optimizer.use_skill_aware_reflection optimizer.skill_aware_appendix_source
  optimizer.skill_aware_consolidate_threshold evaluation.use_gate evaluation.gate_metric evaluation.gate_mixed_weight
  evaluation.use_semantic_density evaluation.semantic_density_weight evaluation.leading_words evaluation.sel_env_num
  evaluation.test_env_num evaluation.eval_test env.name env.skill_init env.split_mode env.split_ratio env.split_seed
  env.split_dir env.data_path env.split_output_dir env.exec_timeout env.max_turns env.max_completion_tokens`.split(
  /\s+/,
);

describe('--cfg-options', () => {
  test.each([
    ['train.num_epochs=3', 'search.epochs', 3],
    ['train.batch_size=40', 'search.batchSize', 40],
    ['gradient.analyst_workers=4', 'reflection.readers', 4],
    ['gradient.minibatch_size=8', 'reflection.minibatchSize', 8],
    ['env.workers=24', 'workers', 24],
    ['env.limit=20', 'taskLimit', 20],
    ['env.limit=0', 'taskLimit', null],
    ['optimizer.learning_rate=4', 'editBudget', 4],
  ])('takes %s for a key of ours, and says so', (given, key, value) => {
    const { overrides, outRoot, taken } = cfgOptions([given]);
    expect(overrides).toEqual([{ key, value, source: { kind: 'flag', flag: `--cfg-options ${given}` } }]);
    expect([outRoot, taken]).toEqual([null, [`${given} is ${key}=${JSON.stringify(value)}`]]);
  });

  test('takes several, and the directory', () => {
    const { overrides, outRoot, taken } = cfgOptions(['env.out_root=outputs/x', 'env.workers=2']);
    expect([overrides.length, outRoot, taken.length]).toEqual([1, 'outputs/x', 2]);
  });

  test('says of every other name of SkillOpt what stands for it here, or that nothing does', () => {
    for (const name of names) {
      const failure = failureOf(() => cfgOptions([`${name}=1`]));
      expect([name, failure.what]).toEqual([name, `${name} has no counterpart of that name here`]);
      expect(failure.fix).toMatch(/^(here it is --set |nothing stands for it|keys stand in |the models say )/);
    }
  });

  test('what it says stands for a name are keys that exist', () => {
    const said = names.map((name) => failureOf(() => cfgOptions([`${name}=1`])).fix).join('\n');
    const keys = [...said.matchAll(/--set '?([A-Za-z.]+)=/g)].map((m) => m[1] ?? '');
    expect(keys.length).toBeGreaterThan(10);
    expect(keys.filter((key) => schemaAt(key) === null)).toEqual([]);
  });

  test.each([
    ['train.epochs=3', 'did you mean train.num_epochs?'],
    ['batch_size=3', 'did you mean train.batch_size?'],
    ['optimizer.learning_rat=3', 'did you mean optimizer.learning_rate?'],
    ['budget.rollouts=3', 'the names are train.num_epochs, '],
  ])('tells what is close to %s', (given, fix) => {
    expect(failureOf(() => cfgOptions([given])).fix).toStartWith(fix);
  });

  test('every alias is a key that exists', () => {
    expect(Object.values(aliases).filter(({ key }) => schemaAt(key) === null)).toEqual([]);
  });

  test('every alias has a name of SkillOpt’s form', () => {
    expect(Object.keys(aliases).filter((name) => !/^(train|gradient|optimizer|env)\.[a-z_]+$/.test(name))).toEqual([]);
  });
});
