import type { Outcome, UnscoredReason } from '../ports/outcome.ts';
import type { MountedSkill, Rollouts } from '../ports/rollouts.ts';
import type { Task } from '../ports/task.ts';
import { waitUntil } from '../process/wait.ts';
import {
  all,
  demand,
  never,
  request,
  type SelfCheck,
  same,
  scoreOf,
  selfCheck,
  sharedChecks,
} from './self-check-tools.ts';
import { type CommonBench, commonSelfChecks, type Wish } from './self-checks-common.ts';

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
  /**
   * The verifier works where the agent worked, so that of what lies there the agent could see and change all but the tests,
   * which come after it. A reward that it wrote there is known and counts for nothing; a change to its own copy of the skill
   * ends with its rollout. Absent = the verifier has a place of its own.
   */
  readonly sharedPlace?: true;
  /** A value that stands in the host's environment and must not reach a rollout. */
  readonly secret: string;
  /** Processes, folders, containers of this bench that are there now, for people. */
  leftovers(): Promise<readonly string[]>;
  /** Settles once processes of agents or verifiers run. */
  busy(): Promise<void>;
  close(): Promise<void>;
};

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
  [
    'background jobs of agent and verifier, which are ended, also in sessions of their own',
    { instruction: detached, test: `${detached}; ${pass}` },
    { hard: 1, soft: 1, timedOut: false },
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

/** Cases of which the outcome has to be looked at more closely. */
function furtherCases({ secret, sharedPlace }: CheckBench): readonly (readonly [string, CheckTask])[] {
  const verdictPlace = sharedPlace ? '' : '"$LOGS_DIR/verifier"';
  const tests = `/tests "$APP_DIR/../tests" "$LOGS_DIR/../tests" ${verdictPlace}`;
  return [
    [
      'no skill',
      {
        instruction: 'echo "[$SKILL_FILE]" > skill; find "$HOME" "$APP_DIR" -name SKILL.md > found',
        test: verdict('[ "$(cat skill)" = "[]" ] && [ ! -s found ]'),
      },
    ],
    [
      'what the agent sees',
      {
        instruction: `echo "[$TESTS_DIR]" > seen; ls -d ${tests} >> seen 2>/dev/null`,
        test: `found=$(ls -A "$LOGS_DIR/verifier" | grep -v test-stdout)\n${verdict(
          '[ "$(cat seen)" = "[]" ] && [ -z "$found" ] && [ -f "$TESTS_DIR/test.sh" ]',
        )}`,
      },
    ],
    ['environment', { instruction: 'env > seen', test: `env >> seen; ${verdict(`! grep -q -e ${secret} seen`)}` }],
  ];
}

/**
 * The suite that every backend of task folders passes, the common one included. Each check makes a bench of its own; those
 * that only look at the outcome of a task without a skill share one, and one call.
 */
export function backendSelfChecks(make: () => Promise<CheckBench>): readonly SelfCheck[] {
  const check = selfCheck(make);
  const cased = sharedChecks(make, async (bench) => {
    const cases: readonly (readonly [string, CheckTask])[] = [
      ...scoredCases,
      ...unscoredCases.map(([, name, files]) => [name, files] as const),
      ...furtherCases(bench),
    ].map(([name, files]) => [name, files]);
    const requests = await Promise.all(cases.map(async ([name, files]) => request(name, await bench.task(files))));
    const reports = await all(bench.backend.performRollouts(requests, { signal: never() }));
    return (name: string): Outcome => {
      const report = reports.find(({ key }) => key === name);
      if (report?.kind !== 'finished') throw new Error(`not finished: ${JSON.stringify(report)}`);
      return report.result.outcome;
    };
  });

  return [
    ...commonSelfChecks(async () => wishing(await make())),
    ...scoredCases.map(([name, , want]) =>
      cased(`scored: ${name}`, (of) => {
        const outcome = of(name);
        const got =
          outcome.status === 'scored'
            ? { hard: outcome.hard, soft: outcome.soft, timedOut: outcome.agentTimedOut === true }
            : outcome;
        same(got, want);
      }),
    ),
    ...unscoredCases.map(([reason, name]) =>
      cased(`unscored, ${reason}: ${name}`, (of) => {
        const outcome = of(name);
        demand(outcome.status === 'unscored', `scored: ${JSON.stringify(outcome)}`);
        same(outcome.status === 'unscored' ? outcome.reason : null, reason);
      }),
    ),
    check('an agent that would change the skill can not, or the rollout is unscored: skill-changed', async (bench) => {
      const text = '---\nname: s\n---\nbody\n';
      const skill = await bench.skill(text, {});
      const change = 'chmod -R u+w "$(dirname "$SKILL_FILE")"; echo more >> "$SKILL_FILE"';
      const task = {
        instruction: `cp "$SKILL_FILE" before; ${change}; cp "$SKILL_FILE" after`,
        test: verdict('! grep -q more after && grep -q body after'),
      };
      const outcome = await outcomeOf(bench, task, skill);
      if (bench.sharedPlace) {
        const next = { ...task, test: verdict('! grep -q more before && grep -q body before') };
        const again = await outcomeOf(bench, next, skill);
        same(again.status === 'scored' ? again.hard : again, 1);
      } else
        same(
          outcome.status === 'unscored' ? outcome.reason : outcome.hard,
          outcome.status === 'scored' ? 1 : 'skill-changed',
        );
    }),
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
        same(
          (await running).map(({ kind, key }) => [kind, key]),
          [['cancelled', 'a']],
        );
      }),
    ),
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
    cased('without a skill there is none', (of) => {
      const outcome = of('no skill');
      same(outcome.status === 'scored' ? [outcome.hard, outcome.read] : outcome, [1, null]);
    }),
    cased('the agent sees neither the tests nor the place of the verdict, which the verifier finds empty', (of) => {
      const outcome = of('what the agent sees');
      same(outcome.status === 'scored' ? outcome.hard : outcome, 1);
    }),
    cased('nothing of the host reaches the environment of agent or verifier', (of) => {
      const outcome = of('environment');
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

/** The scripts by which a wish of the common suite comes true. */
const scripts: Readonly<Record<Wish, CheckTask>> = {
  pass: { instruction: ':', test: pass },
  fail: { instruction: ':', test: verdict('false') },
  half: { instruction: ':', test: 'echo 0.5 > "$LOGS_DIR/verifier/reward.txt"' },
  broken: { instruction: '# crash', test: pass },
  'endless-agent': { instruction: 'sleep 300', test: pass },
  'endless-verifier': { instruction: ':', test: 'sleep 300' },
};

function wishing(bench: CheckBench): CommonBench {
  return { ...bench, task: (wish) => bench.task(scripts[wish]) };
}
