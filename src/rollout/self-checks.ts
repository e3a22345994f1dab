import type { Outcome, UnscoredReason } from '../ports/outcome.ts';
import type { MountedSkill, RolloutProgress, RolloutReport, RolloutRequest, Rollouts } from '../ports/rollouts.ts';
import type { Task } from '../ports/task.ts';
import { waitUntil } from '../process/wait.ts';

/** A task as the checks need it: `instruction` is the script that the bench's agent runs (see `self-check-agent.ts`). */
export type CheckTask = {
  readonly instruction: string;
  /** `tests/test.sh`. */
  readonly test: string;
  readonly agentTimeoutSec?: number;
  readonly verifierTimeoutSec?: number;
};

/** A backend under check, with the self-check agent (or one that keeps its protocol) and a pass threshold of 1. */
export type CheckBench = {
  readonly backend: Rollouts;
  task(files: CheckTask): Promise<Task>;
  skill(text: string, bundled: Readonly<Record<string, string>>): Promise<MountedSkill>;
  /** A value that stands in the host's environment and must not reach a rollout. */
  readonly secret: string;
  /** Processes, folders, containers of this bench that are there now, for people. */
  leftovers(): Promise<readonly string[]>;
  /** Settles once processes of agents or verifiers run. */
  busy(): Promise<void>;
  close(): Promise<void>;
};

/** One thing that every backend does. `check` throws when it does not. */
export type SelfCheck = { readonly name: string; readonly check: () => Promise<void> };

const pass = 'echo 1 > "$LOGS_DIR/verifier/reward.txt"';
const verdict = (condition: string) =>
  `if ${condition}; then echo 1; else echo 0; fi > "$LOGS_DIR/verifier/reward.txt"`;
const detached = 'setsid sleep 300 >/dev/null 2>&1 & sleep 300 >/dev/null 2>&1 & sleep 0.2';

const scoredCases: readonly (readonly [string, CheckTask, { hard: 0 | 1; soft: number; timedOut: boolean }])[] = [
  [
    'a pass',
    { instruction: 'echo ok > out', test: verdict('[ "$(cat out)" = ok ]') },
    { hard: 1, soft: 1, timedOut: false },
  ],
  [
    'a failure',
    { instruction: 'echo no > out', test: verdict('[ "$(cat out)" = ok ]') },
    { hard: 0, soft: 0, timedOut: false },
  ],
  [
    'a part of the reward',
    { instruction: ':', test: `echo '{"reward":0.5,"style":0.25}' > "$LOGS_DIR/verifier/reward.json"` },
    { hard: 0, soft: 0.5, timedOut: false },
  ],
  [
    'a test script that fails after its verdict',
    { instruction: ':', test: `${pass}; exit 3` },
    { hard: 1, soft: 1, timedOut: false },
  ],
  ['an agent that fails after its work', { instruction: 'exit 4', test: pass }, { hard: 1, soft: 1, timedOut: false }],
  [
    'an agent that ran into its deadline after its work',
    { instruction: 'echo ok > out; sleep 300', test: verdict('[ "$(cat out)" = ok ]'), agentTimeoutSec: 1 },
    { hard: 1, soft: 1, timedOut: true },
  ],
];

const unscoredCases: readonly (readonly [UnscoredReason, string, CheckTask])[] = [
  ['agent-crash', 'an agent that crashes', { instruction: '# crash', test: pass }],
  ['agent-setup', 'an agent that cannot be set up', { instruction: '# setup-fails', test: pass }],
  [
    'agent-did-no-work',
    'a deadline without work',
    { instruction: '# idle\nsleep 300', test: pass, agentTimeoutSec: 1 },
  ],
  ['verifier-missing-reward', 'no reward', { instruction: ':', test: 'exit 0' }],
  [
    'verifier-bad-reward',
    'a reward that is no number',
    { instruction: ':', test: 'echo yes > "$LOGS_DIR/verifier/reward.txt"' },
  ],
  [
    'verifier-timeout',
    'a verifier that does not end',
    { instruction: ':', test: `${pass}; sleep 300`, verifierTimeoutSec: 1 },
  ],
  [
    'tampered',
    'a reward written by the agent',
    { instruction: 'mkdir -p "$LOGS_DIR/verifier"; echo 1 > "$LOGS_DIR/verifier/reward.txt"', test: ':' },
  ],
];

/** The suite that every backend passes. Each check makes a bench of its own. */
export function backendSelfChecks(make: () => Promise<CheckBench>): readonly SelfCheck[] {
  const check = (name: string, body: (bench: CheckBench) => Promise<void>): SelfCheck => ({
    name,
    check: async () => {
      const bench = await make();
      try {
        await body(bench);
        const left = await bench.leftovers();
        demand(left.length === 0, `left behind: ${left.join(', ')}`);
      } finally {
        await bench.close();
      }
    },
  });

  return [
    ...scoredCases.map(([name, files, want]) =>
      check(`scored: ${name}`, async (bench) => {
        const outcome = await outcomeOf(bench, files);
        const got =
          outcome.status === 'scored'
            ? { hard: outcome.hard, soft: outcome.soft, timedOut: outcome.agentTimedOut === true }
            : outcome;
        same(got, want);
      }),
    ),
    ...unscoredCases.map(([reason, name, files]) =>
      check(`unscored, ${reason}: ${name}`, async (bench) => {
        const outcome = await outcomeOf(bench, files);
        demand(outcome.status === 'unscored', `scored: ${JSON.stringify(outcome)}`);
        same(outcome.status === 'unscored' ? outcome.reason : null, reason);
      }),
    ),
    check('unscored, skill-changed: a skill that the agent changed', async (bench) => {
      const skill = await bench.skill('---\nname: s\n---\nbody\n', {});
      const instruction = 'chmod -R u+w "$(dirname "$SKILL_FILE")"; echo more >> "$SKILL_FILE"';
      const outcome = await outcomeOf(bench, { instruction, test: pass }, skill);
      same(outcome.status === 'unscored' ? outcome.reason : outcome, 'skill-changed');
    }),
    check('exactly one report for each request, under its key', async (bench) => {
      const good = await bench.task({ instruction: ':', test: pass });
      const bad = await bench.task({ instruction: '# crash', test: pass });
      const requests = [request('a/1', good), request('b', bad), request('c', good), request('d', good)];
      const reports = await all(bench.backend.performRollouts(requests, { signal: never() }));
      same(reports.map((report) => report.key).sort(), ['a/1', 'b', 'c', 'd']);
      same([...new Set(reports.map((report) => report.kind))], ['finished']);
    }),
    check('cancelling one leaves the others alone', async (bench) => {
      const one = new AbortController();
      const slow = await bench.task({ instruction: 'sleep 300', test: pass });
      const quick = await bench.task({ instruction: 'sleep 0.5', test: pass });
      const onProgress = (progress: RolloutProgress) => {
        if (progress.key === 'slow' && progress.phase === 'agent') one.abort();
      };
      const requests = [request('slow', slow, null, one.signal), request('quick', quick)];
      const reports = await all(bench.backend.performRollouts(requests, { signal: never(), onProgress }));
      same(Object.fromEntries(reports.map((report) => [report.key, report.kind])), {
        slow: 'cancelled',
        quick: 'finished',
      });
    }),
    ...(['prepare', 'agent', 'verifier', 'clean'] as const).map((phase) =>
      check(`cancelling all at the beginning of the phase ${phase} ends all`, async (bench) => {
        const task = await bench.task({ instruction: ':', test: pass });
        const stop = new AbortController();
        let reached = 0;
        const onProgress = (progress: RolloutProgress) => {
          if (progress.phase === phase && ++reached === 2) stop.abort();
        };
        const requests = [request('a', task), request('b', task)];
        const reports = await all(bench.backend.performRollouts(requests, { signal: stop.signal, onProgress }));
        same(reports.map((report) => report.key).sort(), ['a', 'b']);
        // What was finished when the stop came is paid and may be handed over.
        if (phase === 'prepare') same([...new Set(reports.map((report) => report.kind))], ['cancelled']);
      }),
    ),
    ...(['agent', 'verifier'] as const).map((phase) =>
      check(`cancelling a stubborn ${phase} with jobs in the background ends all`, async (bench) => {
        const stop = new AbortController();
        const stubborn = `trap "" TERM; ${detached}; sleep 300`;
        const task = await bench.task(
          phase === 'agent' ? { instruction: stubborn, test: pass } : { instruction: ':', test: stubborn },
        );
        let reached = false;
        const running = all(
          bench.backend.performRollouts([request('a', task)], {
            signal: stop.signal,
            onProgress: (progress) => {
              reached ||= progress.phase === phase;
            },
          }),
        );
        demand(await waitUntil(() => reached, 300_000), `the phase ${phase} was not reached`);
        await bench.busy();
        stop.abort();
        same(await running, [{ kind: 'cancelled', key: 'a' }]);
      }),
    ),
    check('cancelled before the start, nothing starts', async (bench) => {
      const task = await bench.task({ instruction: ':', test: pass });
      const reports = await all(bench.backend.performRollouts([request('a', task)], { signal: AbortSignal.abort() }));
      same(reports, [{ kind: 'cancelled', key: 'a' }]);
    }),
    check('background jobs of agent and verifier are ended, also in sessions of their own', async (bench) => {
      const outcome = await outcomeOf(bench, { instruction: detached, test: `${detached}; ${pass}` });
      same(outcome.status, 'scored');
    }),
    check('the skill is there, byte for byte, with its bundled files, and reading is told', async (bench) => {
      const text = '---\nname: s\n---\r\nno end → é 汉 🦀\t';
      const skill = await bench.skill(text, { 'scripts/run.sh': 'bundled\n', 'SKILL.md': 'the seed\n' });
      const outcome = await outcomeOf(
        bench,
        {
          instruction: 'cp "$SKILL_FILE" copy; cp "$(dirname "$SKILL_FILE")/scripts/run.sh" bundled; echo READ',
          test: verdict(
            `[ "$(base64 < copy | tr -d '\\n')" = ${Buffer.from(text).toString('base64')} ] && [ "$(cat bundled)" = bundled ]`,
          ),
        },
        skill,
      );
      same(outcome.status === 'scored' ? [outcome.hard, outcome.read] : outcome, [1, true]);
    }),
    check('a skill that was not read is told as not read', async (bench) => {
      const outcome = await outcomeOf(
        bench,
        { instruction: ':', test: pass },
        await bench.skill('---\nname: s\n---\n', {}),
      );
      same(outcome.status === 'scored' ? outcome.read : outcome, false);
    }),
    check('without a skill there is none', async (bench) => {
      const outcome = await outcomeOf(bench, {
        instruction: 'echo "[$SKILL_FILE]" > skill; find "$HOME" "$APP_DIR" -name SKILL.md > found',
        test: verdict('[ "$(cat skill)" = "[]" ] && [ ! -s found ]'),
      });
      same(outcome.status === 'scored' ? [outcome.hard, outcome.read] : outcome, [1, null]);
    }),
    check(
      'the agent sees neither the tests nor the place of the verdict, which the verifier finds empty',
      async (bench) => {
        const tests = '/tests "$APP_DIR/../tests" "$LOGS_DIR/../tests" "$LOGS_DIR/verifier"';
        const outcome = await outcomeOf(bench, {
          instruction: `echo "[$TESTS_DIR]" > seen; ls -d ${tests} >> seen 2>/dev/null`,
          test: `found=$(ls -A "$LOGS_DIR/verifier" | grep -v test-stdout)\n${verdict(
            '[ "$(cat seen)" = "[]" ] && [ -z "$found" ] && [ -f "$TESTS_DIR/test.sh" ]',
          )}`,
        });
        same(outcome.status === 'scored' ? outcome.hard : outcome, 1);
      },
    ),
    check('nothing of the host reaches the environment of agent or verifier', async (bench) => {
      const outcome = await outcomeOf(bench, {
        instruction: 'env > seen',
        test: `env >> seen; ${verdict(`! grep -q -e ${bench.secret} seen`)}`,
      });
      same(outcome.status === 'scored' ? outcome.hard : outcome, 1);
    }),
    check('two rollouts of one task share nothing', async (bench) => {
      const task = await bench.task({
        instruction: 'ls -A "$APP_DIR" "$HOME" | grep -c mine > others; touch "$APP_DIR/mine" "$HOME/mine"; sleep 0.2',
        test: verdict('[ "$(cat others)" = 0 ]'),
      });
      const requests = ['a', 'b', 'c'].map((key) => request(key, task));
      const reports = await all(bench.backend.performRollouts(requests, { signal: never() }));
      same(
        reports.map((report) => scoreOf(report)),
        [1, 1, 1],
      );
    }),
  ];
}

async function outcomeOf(bench: CheckBench, files: CheckTask, skill: MountedSkill | null = null): Promise<Outcome> {
  const task = await bench.task(files);
  const [report] = await all(bench.backend.performRollouts([request('only', task, skill)], { signal: never() }));
  if (report?.kind !== 'finished') throw new Error(`not finished: ${JSON.stringify(report)}`);
  return report.result.outcome;
}

function scoreOf(report: RolloutReport): number | null {
  return report.kind === 'finished' && report.result.outcome.status === 'scored' ? report.result.outcome.hard : null;
}

function request(key: string, task: Task, skill: MountedSkill | null = null, signal = never()): RolloutRequest {
  return { key, task, skill, attempt: 0, try: 0, signal };
}

function never(): AbortSignal {
  return new AbortController().signal;
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

function demand(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem);
}

function same(got: unknown, want: unknown): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(want)];
  demand(left === right, `got ${left}, wanted ${right}`);
}
