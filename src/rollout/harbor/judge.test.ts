import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { UnscoredReason } from '../../ports/outcome.ts';
import type { CliTrouble } from '../agents/cli/cli-kind.ts';
import { judge, usageOf, type Witness } from './outcome.ts';
import { readTrial } from './trial.ts';
import { stepsJson, trialJson } from './trial-fixture.ts';

const quiet: Witness = { read: null, trouble: null, acted: false, injected: null, planted: null };
const o = { passThreshold: 1, hasSkill: true, callsModel: true };

function judged(json: object, witness: Partial<Witness> = {}, callsModel = true) {
  const trial = readTrial(JSON.stringify(json));
  return trial === null ? null : judge(trial, { ...quiet, ...witness }, { ...o, callsModel });
}

/** The judgement in a word: a score, a reason, a failure's code. */
function word(json: object, witness: Partial<Witness> = {}, callsModel = true): number | string | null {
  const found = judged(json, witness, callsModel);
  if (found === null) return null;
  if (found.kind === 'failed') return found.failure.code;
  if (found.kind === 'cancelled') return 'cancelled';
  return found.outcome.status === 'scored' ? found.outcome.soft : found.outcome.reason;
}

const raised = (exception_type: string, exception_message = 'words') => ({ exception_type, exception_message });
const agentEnds = [
  'AgentTimeoutError',
  'NonZeroAgentExitCodeError',
  'ContextWindowExceededError',
  'ContextLengthExceededError',
  'OutputTokenExceededError',
  'OutputLengthExceededError',
  'AgentSafetyRefusalError',
];
const otherEnds = [
  'ApiRateLimitError',
  'UnknownApiError',
  'NetworkConnectionError',
  'RuntimeError',
  'ValueError',
  'KeyError',
  'VerifierTimeoutError',
  'RewardFileNotFoundError',
  'AgentAuthenticationError',
  'CancelledError',
  'constructor',
  '__proto__',
  'SomethingOfNextYearError',
];

const anything = fc
  .anything({ maxDepth: 2, withNullPrototype: false })
  .filter((value) => JSON.stringify(value) !== undefined);
const tokens = fc.constantFrom<unknown>(0, null, 10, undefined, '10', -1);
const exception = fc.oneof(
  fc.constant(null),
  fc.constantFrom(...agentEnds, ...otherEnds).map((type) => raised(type)),
  fc.record({ exception_message: fc.string() }),
  fc.constantFrom<unknown>(false, 0, '', 'ValueError', [], {}, [null]),
);
const part = fc.record({
  agent_result: fc.oneof(
    fc.constant(null),
    tokens.map((n) => ({ n_output_tokens: n })),
    anything,
  ),
  exception_info: exception,
  verifier_result: fc.constantFrom<unknown>({ rewards: { reward: 1 } }, { rewards: {} }, null, { rewards: null }),
});
const trials = fc.record({
  whole: part,
  steps: fc.oneof(fc.constant(null), fc.array(fc.oneof(part, anything), { maxLength: 3 }), anything),
  reward_valid: fc.constantFrom<unknown>(true, false, null, 'true', undefined),
  finished_at: fc.constantFrom<unknown>('2026-12-01T12:00:01Z', null, 0),
});

const isWorking = (part: unknown) => {
  const { agent_result, exception_info: met } = part as {
    agent_result?: { n_output_tokens?: unknown };
    exception_info?: unknown;
  };
  const type = (met as { exception_type?: unknown } | null)?.exception_type;
  const n = agent_result?.n_output_tokens;
  return typeof n === 'number' && n > 0 && (met == null || agentEnds.includes(String(type)));
};

test('nothing is scored unless all that was raised is an end of the agent’s own, and it wrote in each of its runs', () => {
  let scores = 0;
  fc.assert(
    fc.property(trials, ({ whole, steps, reward_valid, finished_at }) => {
      const base =
        Array.isArray(steps) && steps.length > 0
          ? stepsJson(steps.map((step) => (typeof step === 'object' ? (step as object) : { odd: step })) as never)
          : trialJson(whole);
      const given = { ...base, reward_valid, finished_at, ...(Array.isArray(steps) ? {} : { step_results: steps }) };
      const found = judged(given);
      if (found?.kind !== 'outcome' || found.outcome.status !== 'scored') return;
      scores++;
      expect(finished_at).toBeString();
      expect(reward_valid === true || reward_valid === undefined).toBe(true);
      const list = (given as { step_results?: unknown }).step_results;
      const parts = Array.isArray(list) && list.length > 0 ? list : [given];
      expect(parts.every(isWorking)).toBe(true);
      const own = (given as { exception_info?: unknown }).exception_info;
      if (parts[0] !== given) expect(own ?? null).toBeNull();
    }),
    { numRuns: 3000 },
  );
  expect(scores).toBeGreaterThan(20);
});

test('any JSON at all is read as no trial or as one, and judged', () => {
  const parts = [
    'exception_info',
    'agent_result',
    'verifier_result',
    'step_results',
    'agent_info',
    'config',
    'reward_valid',
  ];
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...parts, 'more', 'finished_at'), anything), (odd) => {
      const trial = readTrial(JSON.stringify({ ...trialJson(), ...odd }));
      if (trial === null) return;
      judge(trial, quiet, o);
      const { inputTokens, outputTokens, costUsd } = usageOf(trial, true);
      for (const value of [inputTokens, outputTokens, costUsd]) expect(value === null || value >= 0).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

describe('a trial of several steps', () => {
  const zero = { agent_result: { n_output_tokens: 0 }, verifier_result: { rewards: { reward: 0 } } };
  const rows: readonly (readonly [string, readonly object[], number | UnscoredReason | 'auth' | 'cancelled'])[] = [
    ['is worth what Harbor makes of its rewards', [{}, {}], 1],
    [
      'is judged where an agent used its time up after its work',
      [{ exception_info: raised('AgentTimeoutError') }, {}],
      1,
    ],
    [
      'has no score where the provider failed in the first step alone',
      [{ exception_info: raised('ApiRateLimitError') }, {}],
      'provider-rate-limit',
    ],
    [
      'has none where an earlier step met more than the last',
      [{ exception_info: raised('UnknownApiError') }, { exception_info: raised('AgentTimeoutError') }],
      'provider-error',
    ],
    [
      'has none where one step is without a token',
      [{}, { ...zero, exception_info: raised('AgentTimeoutError') }],
      'provider-error',
    ],
    ['nor where such a step ended as if all were well', [{ ...zero }, {}], 'agent-did-no-work'],
    [
      'has none where a step has no reward, though the others have',
      [{}, { verifier_result: null, exception_info: raised('AgentTimeoutError') }],
      'verifier-missing-reward',
    ],
    [
      'has none where the setup of a step failed',
      [
        {},
        {
          agent_execution: null,
          verifier: null,
          agent_result: null,
          verifier_result: null,
          exception_info: raised('RuntimeError', 'setup.sh exited with code 1'),
        },
      ],
      'environment',
    ],
    ['stands for a refused key of any step', [{ exception_info: raised('AgentAuthenticationError') }, {}], 'auth'],
    ['is ended where one of its steps was', [{}, { exception_info: raised('CancelledError') }], 'cancelled'],
    ['has none where the record of a step can’t be read', [{}, { exception_info: 'odd' }], 'agent-crash'],
  ];
  for (const [what, steps, expected] of rows)
    test(what, () => expect(word(stepsJson(steps as never))).toBe(expected as never));

  test('spends what its steps spent', () => {
    const trial = readTrial(JSON.stringify(stepsJson([{}, {}])));
    expect(usageOf(trial!, true)).toEqual({ inputTokens: 200, outputTokens: 20, costUsd: 0.02, requests: null });
  });
});

describe('an outage is no bad skill', () => {
  const trouble = (kind: CliTrouble['kind']): Partial<Witness> => ({
    trouble: { kind, detail: 'said so' },
    acted: true,
  });
  const zero = (type: string | null, n: number | null = null) =>
    trialJson({
      agent_result: { n_output_tokens: n },
      verifier_result: { rewards: { reward: 0 } },
      exception_info: type === null ? null : raised(type),
    });
  const rows: readonly (readonly [string, object, Partial<Witness>, number | string])[] = [
    ['time up, no token', zero('AgentTimeoutError', 0), {}, 'provider-error'],
    ['process failed, tokens unknown', zero('NonZeroAgentExitCodeError'), {}, 'provider-error'],
    ['no exception, no token', zero(null, 0), {}, 'agent-did-no-work'],
    ['its log tells of a rate limit', zero('AgentTimeoutError', 5), trouble('rate-limit'), 'provider-rate-limit'],
    ['its log tells of a refused key', zero('AgentTimeoutError', 5), trouble('auth'), 'auth'],
    ['its log tells of an account used up', zero(null, 5), trouble('quota'), 'quota'],
    ['its log tells of no such model', zero(null, 0), trouble('model-not-found'), 'config'],
    ['its process broke down in its work', zero('NonZeroAgentExitCodeError', 5), trouble('crash'), 'agent-crash'],
    ['a limit of its own is its own end', zero(null, 5), trouble('limit'), 0],
    ['time up after work', zero('AgentTimeoutError', 5), {}, 0],
    [
      'a key of the environment that is refused',
      trialJson({
        agent_setup: null,
        agent_execution: null,
        agent_result: null,
        exception_info: raised('AuthenticationError'),
      }),
      {},
      'environment',
    ],
  ];
  for (const [what, json, witness, expected] of rows) test(what, () => expect(word(json, witness)).toBe(expected));
});

describe('an agent that tells no tokens', () => {
  const end = (type: string | null, reward = 0) =>
    trialJson({
      agent_info: { name: 'mine' },
      agent_result: { n_output_tokens: null },
      exception_info: type === null ? null : raised(type),
      verifier_result: { rewards: { reward } },
    });
  const [timeUp, failed] = ['AgentTimeoutError', 'NonZeroAgentExitCodeError'];
  const idle = 'agent-did-no-work';
  // by what it left (a tool that it used, words, nothing): with a model that may be away, and without any
  const rows = [
    [timeUp, 0, true, 0, 0],
    [timeUp, 0, null, idle, 0],
    [timeUp, 0, false, idle, idle],
    [timeUp, 1, false, 1, 1],
    [failed, 0, true, 0, 0],
    [failed, 0, null, idle, 0],
    [failed, 0, false, idle, 0],
    [failed, 1, false, 1, 1],
    [null, 0, false, 0, 0],
  ] as const;
  test.each(rows)('%p, reward %p, it left %p', (type, reward, acted, withModel, without) => {
    expect(word(end(type, reward), { acted }, true)).toBe(withModel);
    expect(word(end(type, reward), { acted }, false)).toBe(without);
  });
});

describe('what Harbor raises without a name that is known is told by its time', () => {
  const at = (occurred_at: string | null, more: object = {}) =>
    trialJson({
      verifier: { started_at: '2026-12-01T12:00:02.5Z', finished_at: '2026-12-01T12:00:03Z' },
      exception_info: { ...raised('OddError'), occurred_at },
      ...more,
    });
  const rows: readonly (readonly [string, object, UnscoredReason])[] = [
    ['in the agent’s run', at('2026-12-01T12:00:02Z'), 'agent-crash'],
    ['in the verifier', at('2026-12-01T12:00:03Z', { verifier_result: null }), 'verifier-crash'],
    ['in the end of the environment', at('2026-12-01T12:00:04Z'), 'environment'],
    ['at no time that is told', at(null), 'agent-crash'],
    ['before the agent began', at(null, { agent_execution: null, verifier: null, agent_result: null }), 'agent-setup'],
    ['before its setup', at(null, { agent_setup: null, agent_execution: null, verifier: null }), 'environment'],
  ];
  for (const [what, json, expected] of rows) test(what, () => expect(word(json)).toBe(expected));
});

test('tampering and a foreign skill take any reward away', () => {
  expect(word(trialJson(), { planted: 'it wrote a reward' })).toBe('tampered');
  expect(word(trialJson(), { injected: false })).toBe('skill-not-visible');
  expect(word(trialJson({ exception_info: raised('AgentAuthenticationError') }), { planted: 'it did' })).toBe('auth');
});
