import { describe, expect, test } from 'bun:test';
import { fail } from '../../ports/failure.ts';
import type { Gateway, GatewayLease, GatewayReport, GatewayStop } from '../../ports/gateway.ts';
import type { ModelErrorKind } from '../../ports/model.ts';
import { noUsage, unknownUsage } from '../../ports/usage.ts';
import type { Agent, AgentEnd } from '../agents/agent.ts';
import { createSelfCheckAgent } from '../self-check-agent.ts';
import { reportOf, resultOf, withBench } from './bench-runs-fixture.ts';
import { told, witnessed } from './model-seat.ts';

const end: AgentEnd = {
  exit: 'finished',
  trouble: null,
  steps: [],
  finalText: 'done',
  usage: unknownUsage,
  read: null,
  didWork: true,
};
const report: GatewayReport = {
  usage: { inputTokens: 100, outputTokens: 10, costUsd: 0.5, requests: 3 },
  visible: true,
  read: true,
  stop: null,
  waitedMs: 0,
};

function leaseOf(seen: Partial<GatewayReport>, o: { readonly isStopped?: boolean } = {}): GatewayLease {
  return {
    path: '/t/abc',
    key: 'dummy',
    stopped: o.isStopped ? AbortSignal.abort() : new AbortController().signal,
    onWait: () => {},
    report: () => ({ ...report, ...seen }),
    close: async () => {},
  };
}

const model = {
  id: 'p/m',
  name: 'm',
  baseUrl: 'http://127.0.0.1:1/t/abc',
  key: 'dummy',
  protocols: ['chat'],
  contextTokens: null,
  maxOutputTokens: null,
} as const;
const seatOf = (seen: Partial<GatewayReport>, o: { readonly isStopped?: boolean } = {}) => ({
  lease: leaseOf(seen, o),
  model,
});

const refused = (kind: ModelErrorKind): GatewayStop => ({
  kind: 'provider',
  refusal: {
    kind,
    failure: fail('auth', 'the key was refused (401)', 'p/m', 'check the key').failure,
    retryAfterMs: null,
  },
});

describe('what the gateway saw', () => {
  test('stands in place of the agent’s own sums and word', () => {
    expect(witnessed({ ...end, read: false }, seatOf({}), true)).toEqual({
      kind: 'end',
      end: { ...end, usage: report.usage, read: true, visible: true, didWork: true },
    });
  });

  test('leaves the agent’s word where it can’t tell, and tells nothing where there is no skill', () => {
    const unsure = seatOf({ read: null, visible: null });
    expect(witnessed({ ...end, read: true }, unsure, true)).toMatchObject({ end: { read: true, visible: null } });
    expect(witnessed({ ...end, read: true }, seatOf({}), false)).toMatchObject({ end: { read: null, visible: null } });
  });

  test('says whether the agent worked, where tokens are told', () => {
    const idle = seatOf({ usage: { ...report.usage, outputTokens: 0 } });
    expect(witnessed(end, idle, true)).toMatchObject({ end: { didWork: false } });
    expect(witnessed(end, seatOf({ usage: unknownUsage }), true)).toMatchObject({ end: { didWork: true } });
  });

  const outcomes: readonly (readonly [ModelErrorKind, string])[] = [
    ['auth', 'failed'],
    ['quota', 'failed'],
    ['model-not-found', 'failed'],
    ['refused-connection', 'failed'],
    ['rate-limit', 'provider-rate-limit'],
    ['overloaded', 'provider-error'],
    ['server', 'provider-error'],
    ['cut-off', 'provider-error'],
    ['silent', 'provider-error'],
    ['bad-request', 'provider-error'],
    ['context-too-long', 'own'],
  ];
  test.each(outcomes)('a provider that ended it with %s makes it %s', (kind, becomes) => {
    const crashed: AgentEnd = {
      ...end,
      exit: 'nonzero',
      trouble: { reason: 'agent-crash', detail: 'exit code 1' },
    };
    for (const isStopped of [true, false]) {
      const seen = witnessed(crashed, seatOf({ stop: refused(kind) }, { isStopped }), true);
      if (becomes === 'failed') expect(seen).toMatchObject({ kind: 'failed', failure: { code: 'auth' } });
      else if (becomes === 'own') expect(seen).toMatchObject({ kind: 'end', end: { trouble: null, exit: 'nonzero' } });
      else expect(seen).toMatchObject({ kind: 'end', end: { trouble: { reason: becomes } } });
    }
  });

  test('is a note where a refused side request ended nothing', () => {
    const seen = witnessed(end, seatOf({ stop: refused('server') }), true);
    expect(seen).toMatchObject({ kind: 'end', end: { trouble: null, exit: 'finished' } });
    expect(JSON.stringify(seen)).toContain('A request was refused and not made again');
  });

  test('a limit of the rollout leaves its work to the verifier; one of the session ends nothing as an outcome', () => {
    const crashed: AgentEnd = { ...end, exit: 'nonzero', trouble: { reason: 'provider-error', detail: '400' } };
    const limit = (of: 'rollout' | 'session') =>
      witnessed(crashed, seatOf({ stop: { kind: 'limit', limit: 'requests', of } }, { isStopped: true }), true);
    expect(limit('rollout')).toMatchObject({ kind: 'end', end: { trouble: null, exit: 'nonzero', didWork: true } });
    expect(JSON.stringify(limit('rollout'))).toContain('limit on requests was reached');
    expect(limit('session')).toMatchObject({ kind: 'failed', failure: { code: 'quota', where: 'limits.requests' } });
  });

  test('time that ran out while the provider owed an answer is no time of the agent’s; its own mistake is', () => {
    const late: AgentEnd = { ...end, exit: 'timeout' };
    for (const kind of ['server', 'overloaded', 'cut-off', 'silent'] as const)
      expect(witnessed(late, seatOf({ stop: refused(kind) }), true)).toMatchObject({
        end: { trouble: { reason: 'provider-error' } },
      });
    for (const kind of ['bad-request', 'context-too-long'] as const)
      expect(witnessed(late, seatOf({ stop: refused(kind) }), true)).toMatchObject({
        end: { trouble: null, exit: 'timeout' },
      });
  });

  test('an end without a request that reached the model is none of the skill’s', () => {
    const silent = seatOf({ usage: noUsage, visible: null, read: null });
    for (const exit of ['finished', 'nonzero'] as const)
      expect(witnessed({ ...end, exit }, silent, true)).toMatchObject({
        end: { trouble: { reason: 'agent-did-no-work', detail: expect.stringMatching(/without a request/) } },
      });
    const crash = { reason: 'agent-crash', detail: 'exit code 1' } as const;
    expect(witnessed({ ...end, exit: 'crashed', trouble: crash }, silent, true)).toMatchObject({
      end: { trouble: crash },
    });
    expect(witnessed({ ...end, exit: 'timeout' }, silent, true)).toMatchObject({
      end: { trouble: null, didWork: false },
    });
  });

  test('a limit is no score either where the skill was not offered', () => {
    const stop = { kind: 'limit', limit: 'requests', of: 'rollout' } as const;
    expect(witnessed(end, seatOf({ stop, visible: false, read: false }, { isStopped: true }), true)).toMatchObject({
      end: { trouble: { reason: 'skill-not-visible' } },
    });
  });

  test('a skill that was not offered is unscored, by whoever can tell', () => {
    const reason = { kind: 'end', end: { trouble: { reason: 'skill-not-visible' } } };
    expect(witnessed(end, seatOf({ visible: false, read: false }), true)).toMatchObject(reason);
    expect(witnessed({ ...end, visible: false }, seatOf({ visible: null }), true)).toMatchObject(reason);
    expect(told({ ...end, visible: false })).toMatchObject(reason);
    expect(witnessed(end, seatOf({ visible: false }), false)).toMatchObject({ end: { trouble: null } });
    const byFolder = witnessed(end, seatOf({ visible: false, read: false }), true, false);
    expect(byFolder).toMatchObject({ end: { trouble: null, visible: null, read: false } });
  });
});

/** A gateway that hands out one lease, and the agent that has a place at it. */
function bench(lease: GatewayLease, agent: Partial<Agent>) {
  const upstream = { id: 'p/m', model: 'm', protocols: ['chat'] } as unknown as Gateway['upstream'];
  const gateway: Gateway = {
    upstream,
    origin: 'http://127.0.0.1:1',
    socketPath: '/nowhere',
    lease: () => lease,
    close: async () => {},
  };
  return { gateway, agent: { ...createSelfCheckAgent(), speaks: ['chat'], ...agent } satisfies Agent };
}

const task = { instruction: 'while :; do sleep 0.02; done', test: 'echo 1 > "$LOGS_DIR/verifier/reward.txt"' };

describe('an agent at the gateway', () => {
  test('is told where its model is, and ends as soon as the gateway stops it', () => {
    const stop = new AbortController();
    const lease = { ...leaseOf({ stop: refused('server') }), stopped: stop.signal };
    const seen: unknown[] = [];
    const agent = createSelfCheckAgent();
    return withBench(
      bench(lease, {
        run: (run) => {
          seen.push(run.model);
          setImmediate(() => stop.abort());
          return agent.run(run);
        },
      }),
      async (local) => {
        const result = await resultOf(local, await local.task(task));
        expect(seen).toEqual([model]);
        expect(result.outcome).toMatchObject({ status: 'unscored', reason: 'provider-error' });
        expect([result.usage, result.exit]).toEqual([report.usage, 'nonzero']);
      },
    );
  });

  test('is billed for what it spent, also where it comes to no outcome', () => {
    const down = fail('environment-down', 'no room for a process', 'here', 'use fewer workers');
    const broken = async () => {
      throw down;
    };
    return withBench(bench(leaseOf({}), { run: broken }), async (local) => {
      const told = await reportOf(local, await local.task(task));
      expect(told).toMatchObject({ kind: 'failed', failure: down.failure, usage: report.usage });
    });
  });

  test('has its deadline moved by what it waits for the provider’s sake', () => {
    let wait: (ms: number, why: string) => void = () => {};
    const lease: GatewayLease = {
      ...leaseOf({}),
      onWait: (listener) => {
        wait = listener;
      },
    };
    return withBench(
      bench(lease, {
        run: async (run) => {
          wait(60_000, 'too many requests');
          const slept = await run.run(['sleep', '0.4']);
          return { ...end, exit: slept.cause === 'exited' ? 'finished' : 'timeout', usage: noUsage };
        },
      }),
      async (local) => {
        const { exit, outcome } = await resultOf(local, await local.task({ ...task, agentTimeoutSec: 0.2 }));
        expect(exit).toBe('finished');
        expect(outcome).toMatchObject({ status: 'scored', hard: 1, read: null });
      },
    );
  });
});
