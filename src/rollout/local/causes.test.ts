import { describe, expect, test } from 'bun:test';
import type { Outcome } from '../../ports/outcome.ts';
import type { FolderTask } from '../../ports/task.ts';
import { createOracleAgent } from '../agents/oracle.ts';
import { createRehearsalAgent } from '../agents/rehearsal.ts';
import { createSelfCheckAgent } from '../self-check-agent.ts';
import { reportOf, resultOf, withBench } from './bench-runs-fixture.ts';

const pass = 'echo 1 > "$LOGS_DIR/verifier/reward.txt"';
const noEnv: FolderTask['env'] = { environment: {}, verifier: {}, solution: {} };
const hidden = { PATH: '/nowhere' };
const skillText = '---\nname: s\n---\n- When the task says "this", run `true`.\n';

const unscoredAs = (outcome: Outcome) => (outcome.status === 'unscored' ? [outcome.reason, outcome.detail] : outcome);

describe('a PATH of the task that hides everything is named', () => {
  test('by an agent', () =>
    withBench({ agent: createRehearsalAgent() }, async (bench) => {
      const task = await bench.task({ instruction: 'Do this.', test: pass, env: { ...noEnv, environment: hidden } });
      const { outcome } = await resultOf(bench, task, await bench.skill(skillText, {}));
      expect(unscoredAs(outcome)).toEqual([
        'environment',
        'cat could not be started: the command cat was not found on its PATH; the task sets PATH to /nowhere',
      ]);
    }));

  test('by a verifier', () =>
    withBench({}, async (bench) => {
      const env = { ...noEnv, verifier: hidden };
      const files = { 'tests/test.sh': pass };
      const { outcome } = await resultOf(bench, await bench.task({ instruction: ':', test: '', env, files }));
      expect(unscoredAs(outcome)).toEqual([
        'verifier-crash',
        'the verifier could not be started: the command bash was not found on its PATH; the task sets PATH to /nowhere',
      ]);
    }));

  test('by a verifier that env looks for', () =>
    withBench({}, async (bench) => {
      const env = { ...noEnv, verifier: hidden };
      const { outcome } = await resultOf(bench, await bench.task({ instruction: ':', test: pass, env }));
      expect(unscoredAs(outcome)).toEqual([
        'verifier-missing-reward',
        'the verifier wrote neither reward.json nor reward.txt (exit code 127); ' +
          'tests/test.sh asks for bash by /usr/bin/env, which does not find it on PATH, which the task sets to /nowhere',
      ]);
    }));
});

describe('what is odd about a script is named whole, with the file', () => {
  const hostEnv = { PATH: '/usr/bin:/bin' };

  test('an interpreter of the tests that is not there', () =>
    withBench({ hostEnv }, async (bench) => {
      const files = { 'tests/test.sh': '#!/opt/none/python9 -u\n' };
      const { outcome } = await resultOf(bench, await bench.task({ instruction: ':', test: '', files }));
      expect(unscoredAs(outcome)).toEqual([
        'verifier-crash',
        'the verifier could not be started: the command python9 was not found on its PATH; ' +
          'tests/test.sh asks for /opt/none/python9, which is not there',
      ]);
    }));

  test('an interpreter of the solution that is not there', () =>
    withBench({ hostEnv, agent: createOracleAgent({ variables: {} }) }, async (bench) => {
      const files = { 'solution/solve.sh': '#!/opt/none/python9\n' };
      const { outcome } = await resultOf(bench, await bench.task({ instruction: ':', test: pass, files }));
      expect(unscoredAs(outcome)).toEqual([
        'agent-setup',
        'the solution could not be started: the command python9 was not found on its PATH; ' +
          'solution/solve.sh asks for /opt/none/python9, which is not there',
      ]);
    }));

  test('Windows line ends', () =>
    withBench({}, async (bench) => {
      const files = { 'tests/test.sh': `#!/bin/bash\r\n${pass}\r\n` };
      const { outcome } = await resultOf(bench, await bench.task({ instruction: ':', test: '', files }));
      expect(unscoredAs(outcome)).toEqual([
        'verifier-missing-reward',
        'the verifier wrote neither reward.json nor reward.txt (exit code 0); ' +
          'tests/test.sh: it has Windows line ends (CR LF)',
      ]);
    }));
});

describe('a skill that no folder can be named after fails with its name and the reason', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['.git', 'it begins with a dot'],
    ['..', 'it begins with a dot'],
    ['a/b', 'it holds a slash, a backslash or a control character'],
    ['a\nb', 'it holds a slash, a backslash or a control character'],
    ['', 'it is empty'],
    ['🦀'.repeat(51), 'it has 204 bytes, more than 200'],
  ];
  for (const [name, why] of cases) {
    test(JSON.stringify(name), () =>
      withBench({}, async (bench) => {
        const skill = { ...(await bench.skill(skillText, {})), name };
        const report = await reportOf(bench, await bench.task({ instruction: ':', test: pass }), skill);
        expect(report).toMatchObject({ kind: 'failed', failure: { code: 'skill', retryable: false } });
        expect(report.kind === 'failed' && report.failure.what).toBe(
          `the name of the skill, ${JSON.stringify(name)}, cannot be the name of a folder: ${why}`,
        );
      }),
    );
  }

  test('and any other one is mounted', () =>
    withBench({}, async (bench) => {
      const skill = { ...(await bench.skill(skillText, {})), name: '🦀'.repeat(50) };
      const { outcome } = await resultOf(
        bench,
        await bench.task({ instruction: 'cat "$SKILL_FILE"', test: pass }),
        skill,
      );
      expect(outcome).toMatchObject({ status: 'scored' });
    }));
});

test('no folder of this machine stands in the detail of an outcome, and the detail is bounded', () => {
  const agent = {
    ...createSelfCheckAgent(),
    run: async (run: { readonly workspace: string; readonly home: string; readonly task: FolderTask }) => {
      throw new Error(`no ${run.workspace}/a, ${run.home} and ${run.task.dir}/b ${'long '.repeat(10_000)}`);
    },
  };
  return withBench({ agent }, async (bench) => {
    const { outcome } = await resultOf(bench, await bench.task({ instruction: '', test: pass }));
    const [reason, detail] = unscoredAs(outcome) as [string, string];
    expect(reason).toBe('agent-crash');
    expect(detail).toStartWith('no $APP_DIR/a, $HOME and <task>/b long ');
    expect(detail.length).toBeLessThan(2_100);
  });
});
