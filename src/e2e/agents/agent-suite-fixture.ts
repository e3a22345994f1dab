import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { markedProcesses, removePlaces, until } from '../binary.ts';
import { evalEvents } from '../evals.ts';
import { AgentBench, bodyMark, foreign, realKey } from './agent-bench-fixture.ts';
import { foundAgents } from './agent-rows-fixture.ts';
import type { ScriptedFault } from './scripted-model-fixture.ts';

/** Longest time of one test: a slow agent, three tries, and five requests in each. */
const longMs = 300_000;

/**
 * A coding agent itself, at the version that is installed, driven by the built binary within the walls of this machine,
 * against a scripted model behind the gateway. One that is not here has no tests: `found.test.ts` tells.
 */
export function agentSuite(name: string): void {
  const found = foundAgents.filter(({ row }) => row.agent === name);
  const benches: AgentBench[] = [];
  afterEach(async () => {
    for (const bench of benches.splice(0)) await bench.model.stop();
  });
  afterAll(removePlaces);

  describe.each(found.map((one) => [one.row.agent, one] as const))('%s', (agent, { row, version }) => {
    const bench = (): AgentBench => {
      const made = new AgentBench(row);
      benches.push(made);
      return made;
    };

    test(
      'opens the skill and does what it says; without it, it knows nothing of it',
      async () => {
        const own = bench();
        const whole = await own.run({ args: ['--no-skill'] });
        const [withIt, without] = whole.report?.arms ?? [];
        expect(withIt).toMatchObject({ passed: 1, scored: 1, read: [1, 1] });
        expect(without).toMatchObject({ passed: 0, scored: 1, read: [0, 0] });
        expect(whole.report).toMatchObject({ environment: { versions: { [agent]: version } } });

        // what was done, in its own account
        const [trajectory = ''] = own.trajectories(whole);
        expect(trajectory).toContain('echo widget-ok > widget.txt');
        expect(JSON.parse(trajectory)).toMatchObject({ agent, finalText: 'WIDGET-DONE' });
        expect(trajectory.includes(bodyMark)).toBe(row.showsBody);

        // what it spent is what the server counted, request by request
        const tokens = whole.outcomes.reduce(
          (sum, { usage }) => sum + (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
          0,
        );
        expect(tokens).toBe(own.model.tokens);
        expect(whole.outcomes.reduce((sum, { usage }) => sum + (usage.requests ?? 0), 0)).toBe(own.model.asked.length);

        // the key comes in behind the agent, and nothing of the user's comes to the model
        const seen = own.model.asked.map(({ body }) => body).join('\n');
        expect(new Set(own.model.asked.map(({ key }) => key))).toEqual(new Set([realKey]));
        expect(seen).toContain('HOME=');
        for (const text of [realKey, foreign]) expect(seen).not.toContain(text);
        expect(leftBy(own)).toEqual([]);
      },
      longMs,
    );

    test(
      'is offered the skill and leaves it shut',
      async () => {
        const { report, outcomes } = await bench().run({ play: 'ignore' });
        expect(report?.arms[0]).toMatchObject({ passed: 0, scored: 1, read: [0, 1] });
        expect(outcomes[0]?.outcome).toMatchObject({ status: 'scored', read: false });
      },
      longMs,
    );

    if (row.others.length > 0) {
      test.each(row.others.map((other) => [other.model, other] as const))(
        'opens the skill with %s, too',
        async (_, other) => {
          const own = bench();
          const end = await own.run({ other });
          expect(end.report?.arms[0]).toMatchObject({ passed: 1, scored: 1, read: [1, 1], turns: 3 });
          expect(JSON.parse(own.trajectories(end)[0] ?? '')).toMatchObject({ agent, finalText: 'WIDGET-DONE' });
        },
        longMs,
      );
    }

    const { hidden } = row;
    if (hidden !== null) {
      test(
        'a skill that it does not offer is no failure of the skill',
        async () => {
          const { report, outcomes } = await bench().run({ skill: hidden });
          expect(report?.arms[0]).toMatchObject({ scored: 0 });
          for (const { outcome } of outcomes) expect(outcome).toMatchObject({ reason: 'skill-not-visible' });
        },
        longMs,
      );
    }

    test(
      'an empty answer is an answer',
      async () => {
        const { outcomes } = await bench().run({ play: 'silent' });
        expect(outcomes[0]?.outcome.status === 'scored' || outcomes[0]?.outcome.reason === 'provider-error').toBe(true);
      },
      longMs,
    );

    test(
      'a key that is refused ends it at once, with the name of the key',
      async () => {
        const own = bench();
        const { end, outcomes } = await own.run({ fault: 401 });
        expect({ code: end.code, outcomes }).toEqual({ code: 4, outcomes: [] });
        expect(JSON.parse(end.stdout)).toMatchObject({
          error: { code: 'auth', fix: expect.stringMatching(/E2E_KEY/) },
        });
        expect(own.model.asked).toHaveLength(1);
      },
      longMs,
    );

    const troubles: readonly (readonly [ScriptedFault, string])[] = [
      [429, 'provider-rate-limit'],
      [500, 'provider-error'],
      ['cut', 'provider-error'],
      ['malformed', 'provider-error'],
      ['hang', 'provider-error'],
    ];
    test.each(troubles)(
      'a service that answers %p: %s, and nothing is said of the skill',
      async (fault, reason) => {
        const model = fault === 'hang' ? { firstByteSec: 1 } : {};
        // one of the three tries is enough to see
        const { outcomes } = await bench().run({ fault, model, args: ['--limit-rollouts', '1'] });
        expect(outcomes).toMatchObject([{ outcome: { status: 'unscored', reason } }]);
      },
      longMs,
    );

    test(
      'a service that is gone is no outcome',
      async () => {
        const { end, outcomes } = await bench().run({ fault: 'gone' });
        expect(outcomes).toEqual([]);
        expect(JSON.parse(end.stdout)).toMatchObject({ error: { code: 'environment-down', retryable: true } });
      },
      longMs,
    );

    test(
      'is stopped at its limit of requests, exactly, and scored by what it did',
      async () => {
        const own = bench();
        const { outcomes } = await own.run({ play: 'loop', args: ['--set', 'agentLimits.requests=3'] });
        expect(outcomes).toMatchObject([{ outcome: { status: 'scored', hard: 0 }, usage: { requests: 3 } }]);
        expect(own.model.asked).toHaveLength(3);
      },
      longMs,
    );

    test(
      'is ended at its time limit with all that it started',
      async () => {
        const own = bench();
        const { outcomes } = await own.run({ play: 'sleep', args: ['--set', `timeouts.agentSec=${row.seconds}`] });
        expect(outcomes).toMatchObject([
          { outcome: { status: 'scored', hard: 0, agentTimedOut: true }, exit: 'timeout' },
        ]);
        expect(leftBy(own)).toEqual([]);
      },
      longMs,
    );

    test(
      'Ctrl-C ends it with all that it started, and the same command goes on',
      async () => {
        const own = bench();
        const running = await own.start({ play: 'sleep' });
        await until('it is at work', () => own.model.asked.some(({ answer }) => answer?.call !== undefined), longMs);
        running.kill('SIGINT');
        expect((await running.ended).code).toBe(130);
        expect(leftBy(own)).toEqual([]);
        await own.model.stop();
        expect((await own.run()).report?.arms[0]).toMatchObject({ passed: 1, scored: 1, read: [1, 1] });
      },
      longMs,
    );

    test(
      'eight at once do not meet',
      async () => {
        const own = bench();
        const { report, outcomes } = await own.run({ args: ['--repeat', '8', '--workers', '8'] });
        expect(report?.arms[0]).toMatchObject({ passed: 8, scored: 8, read: [8, 8] });
        expect(new Set(outcomes.map(({ usage }) => usage.requests)).size).toBe(1);
        expect(leftBy(own)).toEqual([]);
      },
      longMs,
    );
  });
}

/** Processes and folders of its rollouts that are there now. */
function leftBy({ place }: AgentBench): readonly string[] {
  const id = String(evalEvents(place, 'out')[0]?.eval);
  return [...markedProcesses(id), ...readdirSync(place.temp).filter((name) => name.startsWith('skillopt-'))];
}
