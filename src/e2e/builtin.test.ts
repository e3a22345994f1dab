import { afterAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { expectFailure, jsonOf, removePlaces } from './binary.ts';
import { type HarborOptions, HarborSession } from './harbor-model.ts';
import { base } from './hello-harbor.ts';
import { refusal } from './model-server.ts';
import { performedAgain } from './sessions.ts';

afterAll(() => {
  removePlaces();
  rmSync(base, { recursive: true, force: true });
});

describe('the built-in agent makes the bundled example better', () => {
  const ways: readonly (readonly [string, HarborOptions])[] = [
    ['by tools', {}],
    ['by commands in text', { model: { tools: false } }],
  ];
  test.each(ways)('%s', async (_, options) => {
    const own = new HarborSession(options);
    const run = await own.succeed(['run', 'session', '--yes']);
    expect(run.stdout).toMatch(/^step 1 .*\n +ACCEPT · selection \d+\/(?:8|16) against \d/m);
    const [, result, seed, none] =
      /^result +sealed test: (\d)\/8 with the result, (\d)\/8 with the seed, (\d)\/8 without a skill/m
        .exec((await own.succeed(['finalize', 'session', '--yes'])).stdout)
        ?.map(Number) ?? [];
    expect(result).toBeGreaterThan(seed ?? 9);
    expect([none, own.outcomes.length > 50]).toEqual([0, true]);
    const status = jsonOf(await own.succeed(['status', 'session', '--json']));
    expect(status).toMatchObject({ phase: 'finished', result: 'improved', rehearsal: false });

    // every rollout was scored, and the skill was read wherever there was one
    for (const { hasSkill, outcome } of own.outcomes)
      expect(outcome).toMatchObject({ status: 'scored', read: hasSkill ? true : null });
    expect(own.asked('target').every((q) => q.tools.length === ('model' in options ? 0 : 4))).toBe(true);
    expect(status.tokens).toBe(own.server.tokens.input + own.server.tokens.output);
    expect(performedAgain(own.place.events('session'))).toEqual([]);
    expect(own.place.leftovers('session')).toEqual([]);
    expect((await own.succeed(['verify', 'session'])).stdout).toMatch(
      /^verified +session: \d+ decisions .* through the sealed test$/m,
    );
  });

  test('measured by itself, with what it spends', async () => {
    const own = new HarborSession({ provider: 'anthropic', env: { ANTHROPIC_API_KEY: 'sk-ant-e2e-0123456789abcdef' } });
    const end = await own.succeed(['eval', 'session', '--split', 'train', '--no-skill', '--yes', '--json']);
    expect(own.asked('optimizer')).toEqual([]);
    const [skill, none] = jsonOf(end).arms as readonly Record<string, unknown>[];
    expect(skill).toMatchObject({ passed: 2, of: 9, scored: 9, read: [9, 9], turns: 22 });
    expect(none).toMatchObject({ passed: 0, of: 9, scored: 9, read: [0, 0], turns: 18 });
    expect(own.asked('target').every((q) => q.protocol === 'anthropic')).toBe(true);
  });
});

test('a smoke test counts its requests, and tells those of the job by them', async () => {
  const own = new HarborSession();
  const { job } = jsonOf(await own.succeed(['run', 'session', '--smoke', '--yes', '--json'])) as {
    readonly job: {
      readonly rollouts: readonly number[];
      readonly roles: readonly { readonly calls: readonly number[] }[];
    };
  };
  expect(job.roles[0]?.calls[0]).toBeGreaterThan(job.rollouts[0] ?? 0);
});

describe('before anything is spent', () => {
  test('it has to have a model', async () => {
    const own = new HarborSession({ config: { model: null } });
    expectFailure(await own.run(['run', 'session', '--yes']), {
      code: 4,
      what: /^the agent builtin calls a model, and none is named$/,
      where: /^model$/,
      fix: /^add "model": "provider\/model"$/,
    });
  });

  test('a limit on its money has to be one that can be held', async () => {
    const own = new HarborSession({ config: { agentLimits: { usd: 1 } } });
    expectFailure(await own.run(['run', 'session', '--yes']), {
      code: 4,
      what: /^agentLimits\.usd can’t be held: the price of openai-compatible\/target is not known$/,
      where: /^agentLimits\.usd$/,
      fix: /"price"/,
    });
    expect(own.server.asked).toEqual([]);
  });

  test('what a model thinks of does not run outside a sandbox without consent, not even on the example', async () => {
    const own = new HarborSession({ config: { allowUnsandboxed: false, sandbox: { kind: 'none' } } });
    expectFailure(await own.run(['run', 'session', '--yes']), {
      code: 4,
      what: /without a sandbox/,
      where: /local/,
      fix: /--allow-unsandboxed/,
    });
  });

  test('the estimate counts several requests a rollout', async () => {
    const most = async (agentLimits: object) => {
      const models = { price: { input: 1, output: 5 } };
      const own = new HarborSession({ models, config: { agentLimits } });
      const end = await own.run(['run', 'session']);
      expectFailure(end, { code: 4, what: /^nothing bounds what this session may spend/, where: /./, fix: /-usd \d/ });
      return Number(/about \$[\d.]+ to \$([\d.]+)/.exec(end.stderr)?.[1]);
    };
    expect(await most({ requests: 1 })).toBeLessThan((await most({})) / 2);
  });
});

test('a key that is refused on the way pauses the session, and a limit of requests scores what was done until then', async () => {
  const own = new HarborSession({ config: { agentLimits: { requests: 2 } } });
  let answered = 0;
  own.server.trouble = (q) =>
    q.model === 'target' && ++answered > 20 ? refusal(401, 'authentication_error', 'no') : null;
  const end = await own.run(['run', 'session', '--yes']);
  expectFailure(end, { code: 4, what: /^the key was refused/, where: /target/, fix: /./ });
  expect(own.outcomes.length).toBeGreaterThan(4);
  for (const { outcome } of own.outcomes) expect(outcome).toMatchObject({ status: 'scored', read: true });
  expect(own.place.read('session/skillopt.jsonl')).toContain('"exit":"nonzero"');
  own.server.trouble = () => null;
  expect((await own.succeed(['run', 'session', '--yes'])).stdout).toMatch(/^result /m);
});
