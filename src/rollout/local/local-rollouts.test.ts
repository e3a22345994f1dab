import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail } from '../../ports/failure.ts';
import type { FolderTask } from '../../ports/task.ts';
import { noUsage } from '../../ports/usage.ts';
import { findMarked, reapLeftovers } from '../../process/reap-leftovers.ts';
import { runProcess } from '../../process/run-process.ts';
import type { Agent, AgentRun } from '../agents/agent.ts';
import { createNopAgent } from '../agents/nop.ts';
import { createOracleAgent } from '../agents/oracle.ts';
import { createSelfCheckAgent } from '../self-check-agent.ts';
import { makeLocalBench } from './bench-fixture.ts';
import { reportOf, resultOf, withBench } from './bench-runs-fixture.ts';
import { markName } from './environment.ts';

const pass = 'echo 1 > "$LOGS_DIR/verifier/reward.txt"';
const verdict = (condition: string) =>
  `if ${condition}; then echo 1; else echo 0; fi > "$LOGS_DIR/verifier/reward.txt"`;
const reference = (name: string) => `\${${name}}`;
const never = () => new AbortController().signal;

/** An agent of which only `run` matters. */
function agentThat(run: (run: AgentRun) => Promise<unknown>, more: Partial<Agent> = {}): Agent {
  return {
    ...createSelfCheckAgent(),
    run: async (given) => {
      await run(given);
      return {
        exit: 'finished',
        trouble: null,
        steps: [],
        finalText: '',
        usage: noUsage,
        read: null,
        didWork: true,
      };
    },
    ...more,
  };
}

describe('what a rollout hands back', () => {
  test('a trajectory with named folders, the output of the verifier, versions and time', () =>
    withBench({}, async (bench) => {
      const task = await bench.task({
        instruction: 'echo "I am in $APP_DIR"',
        test: `echo "tests in $TESTS_DIR"; ${pass}`,
      });
      const { trajectory, versions, usage, exit, durationMs } = await resultOf(bench, task);
      expect(trajectory).toEqual({
        agent: 'self-check',
        steps: [{ kind: 'tool', name: 'bash', input: task.instruction, output: 'I am in $APP_DIR\n', exitCode: 0 }],
        finalText: 'I am in $APP_DIR\n',
        cut: 0,
        verifier: { output: 'tests in $TESTS_DIR\n' },
      });
      expect(versions).toEqual({ 'self-check': '1', sandbox: 'none' });
      expect(versions).toEqual(await bench.backend.versions());
      expect({ usage, exit }).toEqual({ usage: noUsage, exit: 'finished' });
      expect(durationMs).toBeGreaterThan(0);
    }));

  test('the exit as our own clock knows it, though the agent exits 0 when it is told to stop', () =>
    withBench({}, async (bench) => {
      const instruction = 'trap "exit 0" TERM; while :; do sleep 0.02; done';
      const { exit, outcome } = await resultOf(
        bench,
        await bench.task({ instruction, test: pass, agentTimeoutSec: 0.3 }),
      );
      expect(exit).toBe('timeout');
      expect(outcome).toMatchObject({ status: 'scored', hard: 1, agentTimedOut: true });
    }));
});

describe('the reward', () => {
  test('moved in from what the agent wrote is tampering', () =>
    withBench({}, async (bench) => {
      const test = 'mv prepared.json "$LOGS_DIR/verifier/reward.json"; echo 0 > "$LOGS_DIR/verifier/reward.txt"';
      const task = await bench.task({ instruction: `echo '{"reward":1}' > prepared.json`, test });
      expect((await resultOf(bench, task)).outcome).toMatchObject({ status: 'unscored', reason: 'tampered' });
    }));

  test('moved in from the tests counts', () =>
    withBench({}, async (bench) => {
      const test = 'mv "$TESTS_DIR/reward.txt" "$LOGS_DIR/verifier/reward.txt"';
      const task = await bench.task({ instruction: ':', test, files: { 'tests/reward.txt': '1' } });
      expect((await resultOf(bench, task)).outcome).toMatchObject({ status: 'scored', hard: 1 });
    }));

  test('behind a replaced folder of logs is tampering', () =>
    withBench({}, async (bench) => {
      const task = await bench.task({ instruction: 'rm -rf "$LOGS_DIR"; ln -s "$APP_DIR" "$LOGS_DIR"', test: pass });
      expect((await resultOf(bench, task)).outcome).toMatchObject({ status: 'unscored', reason: 'tampered' });
    }));

  test('that is a pipe does not hold us', () =>
    withBench({}, async (bench) => {
      const task = await bench.task({ instruction: ':', test: 'mkfifo "$LOGS_DIR/verifier/reward.txt"' });
      expect((await resultOf(bench, task)).outcome).toMatchObject({
        status: 'unscored',
        reason: 'verifier-bad-reward',
      });
    }));

  test('of 30 MB is not read', () =>
    withBench({}, async (bench) => {
      const task = await bench.task({
        instruction: ':',
        test: 'head -c 30000000 /dev/zero > "$LOGS_DIR/verifier/reward.json"',
      });
      expect((await resultOf(bench, task)).outcome).toMatchObject({
        status: 'unscored',
        reason: 'verifier-bad-reward',
      });
    }));

  test('is asked for on an empty workspace when the agent removed it', () =>
    withBench({}, async (bench) => {
      const task = await bench.task({ instruction: 'cd /; rm -rf "$APP_DIR"', test: verdict('[ -f answer ]') });
      expect((await resultOf(bench, task)).outcome).toMatchObject({ status: 'scored', hard: 0 });
    }));
});

describe('the workspace', () => {
  test('holds what the task puts there, with its modes, and is no git root itself', () =>
    withBench(
      {
        prepareFiles: async () => [
          { from: 'data', to: '.', mode: null },
          { from: 'tool', to: 'bin/tool', mode: 0o755 },
        ],
      },
      async (bench) => {
        const task = await bench.task({
          instruction: 'bin/tool && cat sub/a.txt && [ ! -e .git ] && [ -d ../.git ] && (cd sub && pwd)',
          test: pass,
          files: { 'environment/data/sub/a.txt': 'data\n', 'environment/tool': '#!/bin/sh\necho tool\n' },
        });
        expect((await resultOf(bench, task)).trajectory?.finalText).toBe('tool\ndata\n$APP_DIR/sub\n');
      },
    ));

  test('never takes a file out of its folder', () =>
    withBench({ prepareFiles: async () => [{ from: 'a', to: '../../a', mode: null }] }, async (bench) => {
      const task = await bench.task({ instruction: ':', test: pass, files: { 'environment/a': 'a' } });
      expect(await reportOf(bench, task)).toMatchObject({ kind: 'failed', failure: { code: 'pack' } });
    }));

  test('is asked for once for each task', async () => {
    let asked = 0;
    const prepareFiles = async () => {
      asked++;
      return [];
    };
    await withBench({ prepareFiles }, async (bench) => {
      const task = await bench.task({ instruction: ':', test: pass });
      await resultOf(bench, task);
      await resultOf(bench, task);
      expect(asked).toBe(1);
    });
  });

  test('can be removed whatever the agent did to its modes, and links are not followed', () =>
    withBench({}, async (bench) => {
      const outside = join(bench.folder, 'outside');
      mkdirSync(join(outside, 'kept'), { recursive: true });
      const instruction = `mkdir -p a/b; touch a/b/c; ln -s ${outside} link; chmod 000 a/b; chmod 555 a`;
      await resultOf(bench, await bench.task({ instruction, test: pass }));
      expect(readdirSync(outside)).toEqual(['kept']);
    }));
});

describe('the environment', () => {
  const env: FolderTask['env'] = {
    environment: { SHARED: reference('FROM_HOST'), HOME: '/somewhere' },
    verifier: { ONLY_VERIFIER: reference('UNSET:-default') },
    solution: {},
  };

  test('carries the variables of the task by phase, and the mark', () =>
    withBench({ variables: { FROM_HOST: 'value' } }, async (bench) => {
      const task = await bench.task({
        instruction: `echo "$SHARED,$ONLY_VERIFIER,$(basename "$HOME"),$${markName}" > agent`,
        test: `echo "$SHARED,$ONLY_VERIFIER,$(basename "$HOME"),$${markName}"; cat agent; ${pass}`,
        env,
      });
      const mark = `${bench.sessionId}/k`;
      expect((await resultOf(bench, task)).trajectory?.verifier?.output).toBe(
        `value,default,home,${mark}\nvalue,,home,${mark}\n`,
      );
    }));

  test('with a variable that is not set keeps the rollout from starting, and preflight says so', async () => {
    const bench = await makeLocalBench();
    const task = await bench.task({ instruction: ':', test: pass, env });
    expect(await reportOf(bench, task)).toMatchObject({ kind: 'failed', failure: { code: 'config' } });
    await bench.close();
    await withBench({ tasks: [task] }, async (other) => {
      const findings = (await other.backend.preflight()).filter((finding) => finding.level === 'error');
      expect(findings).toHaveLength(1);
      expect(findings[0]?.what).toContain('FROM_HOST');
    });
  });
});

describe('the skill', () => {
  test('is linked where the agent looks, instead of one that the task brings, and is gone for the verifier', () => {
    const agent: Agent = {
      ...createSelfCheckAgent(),
      skillMounts: [
        { base: 'workspace', path: '.agents/skills' },
        { base: 'home', path: '.claude/skills' },
      ],
    };
    return withBench({ agent, prepareFiles: async () => [{ from: '.', to: '.', mode: null }] }, async (bench) => {
      const task = await bench.task({
        instruction: 'cat .agents/skills/s/SKILL.md "$HOME/.claude/skills/s/SKILL.md"',
        test: `find . "$HOME" | grep -v '^[.]$' | LC_ALL=C sort; ${pass}`,
        files: {
          'environment/.agents/skills/s/SKILL.md': 'the task\n',
          'environment/.agents/skills/t/SKILL.md': 't\n',
        },
      });
      const { trajectory } = await resultOf(bench, task, await bench.skill('the candidate\n', {}));
      expect(trajectory?.finalText).toBe('the candidate\nthe candidate\n');
      expect(trajectory?.verifier?.output).toBe(
        './.agents\n./.agents/skills\n./.agents/skills/t\n./.agents/skills/t/SKILL.md\n$HOME\n',
      );
    });
  });

  test('cannot be measured with an agent that takes none', () =>
    withBench({ agent: createNopAgent() }, async (bench) => {
      const task = await bench.task({ instruction: ':', test: pass });
      const one = await reportOf(bench, task, await bench.skill('text', {}));
      expect(one).toMatchObject({ kind: 'failed', failure: { code: 'config' } });
    }));
});

describe('agents', () => {
  test('that do not come back are given up, and can start nothing any more', () => {
    let late: AgentRun | null = null;
    const agent = agentThat(async (run) => {
      late = run;
      await new Promise(() => {});
    });
    return withBench({ agent }, async (bench) => {
      const task = await bench.task({ instruction: '', test: pass, agentTimeoutSec: 0.1 });
      const { outcome, exit } = await resultOf(bench, task);
      expect(exit).toBe('timeout');
      expect(outcome).toMatchObject({ status: 'unscored', reason: 'agent-did-no-work' });
      const end = await late!.run(['touch', join(bench.folder, 'late')]);
      expect(end.cause).toBe('timeout');
      expect(existsSync(join(bench.folder, 'late'))).toBe(false);
    });
  });

  test('that name what is never an outcome stop the rollout with that failure', () => {
    const agent = agentThat(async () => {
      throw fail('auth', 'the key was refused', 'provider', 'set another key');
    });
    return withBench({ agent }, async (bench) => {
      const one = await reportOf(bench, await bench.task({ instruction: '', test: pass }));
      expect(one).toMatchObject({ kind: 'failed', failure: { code: 'auth' } });
    });
  });

  test('oracle: runs the solution with its variables, in a copy', () =>
    withBench({ agent: createOracleAgent({ variables: { TOKEN: 'given' } }) }, async (bench) => {
      const task = await bench.task({
        instruction: 'do it',
        test: verdict('[ "$(cat out)" = "given helper" ]'),
        env: { environment: {}, verifier: {}, solution: { T: reference('TOKEN') } },
        files: {
          'solution/solve.sh': '#!/usr/bin/env bash\necho "$T $(cat "$SOLUTION_DIR/helper")" > out\nrm "$0"; exit 3\n',
          'solution/helper': 'helper\n',
        },
      });
      const { outcome, exit, trajectory } = await resultOf(bench, task);
      expect(outcome).toMatchObject({ status: 'scored', hard: 1 });
      expect(exit).toBe('nonzero');
      expect(trajectory?.steps.at(-1)).toMatchObject({ kind: 'tool', exitCode: 3 });
      expect(existsSync(join(task.dir, 'solution/solve.sh'))).toBe(true);
    }));

  test('oracle: a task without a solution is no failure of anybody', () =>
    withBench({ agent: createOracleAgent({ variables: {} }) }, async (bench) => {
      const { outcome, trajectory } = await resultOf(bench, await bench.task({ instruction: '', test: pass }));
      expect(outcome).toMatchObject({ status: 'unscored', reason: 'agent-setup' });
      expect(trajectory).toBeNull();
    }));

  test('nop: doing nothing is scored', () =>
    withBench({ agent: createNopAgent() }, async (bench) => {
      const { outcome } = await resultOf(bench, await bench.task({ instruction: '', test: verdict('[ -e out ]') }));
      expect(outcome).toMatchObject({ status: 'scored', hard: 0, read: null });
    }));
});

describe('failures that are never outcomes', () => {
  for (const [code, want] of [
    ['ENOSPC', 'disk'],
    ['EROFS', 'disk'],
    ['EMFILE', 'environment-down'],
  ] as const) {
    test(`${code} while a rollout is prepared`, () => {
      const prepareFiles = async () => {
        throw Object.assign(new Error(code), { code });
      };
      return withBench({ prepareFiles }, async (bench) => {
        const one = await reportOf(bench, await bench.task({ instruction: '', test: pass }));
        expect(one).toMatchObject({ kind: 'failed', failure: { code: want } });
      });
    });
  }

  test('one that is over is not remembered', () => {
    let asked = 0;
    const prepareFiles = async () => {
      if (asked++ === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      return [];
    };
    return withBench({ prepareFiles }, async (bench) => {
      const task = await bench.task({ instruction: ':', test: pass });
      expect(await reportOf(bench, task)).toMatchObject({ kind: 'failed' });
      expect((await resultOf(bench, task)).outcome).toMatchObject({ status: 'scored' });
    });
  });

  test('a temporary folder that is not there', () =>
    withBench({ tempRoot: '/no/such/folder' }, async (bench) => {
      const one = await reportOf(bench, await bench.task({ instruction: '', test: pass }));
      expect(one).toMatchObject({ kind: 'failed', failure: { code: 'disk', where: '/no/such/folder' } });
      expect((await bench.backend.preflight()).some((finding) => finding.level === 'error')).toBe(true);
      expect(await bench.backend.sweep()).toEqual([]);
    }));

  test('no consent', () =>
    withBench({ unsandboxedAllowed: false }, async (bench) => {
      const one = await reportOf(bench, await bench.task({ instruction: '', test: pass }));
      expect(one).toMatchObject({ kind: 'failed', failure: { code: 'preflight' } });
      const errors = (await bench.backend.preflight()).filter((finding) => finding.level === 'error');
      expect(errors.map((finding) => finding.fix).join()).toContain('--allow-unsandboxed');
    }));

  test('anything else costs this rollout alone its score', () => {
    const prepareFiles = async () => {
      throw new Error('odd');
    };
    return withBench({ prepareFiles }, async (bench) => {
      const { outcome, trajectory } = await resultOf(bench, await bench.task({ instruction: '', test: pass }));
      expect(outcome).toEqual({ status: 'unscored', reason: 'environment', detail: 'odd' });
      expect(trajectory).toBeNull();
    });
  });
});

test('preflight says what the pack says of its tasks, and nothing bad of a good host', () =>
  withBench(
    { problems: async (tasks) => [{ level: 'error', what: `${tasks.length} tasks`, where: 'w', fix: 'f' }] },
    async (bench) => {
      const errors = (await bench.backend.preflight()).filter((finding) => finding.level !== 'ok');
      expect(errors).toEqual([{ level: 'error', what: '0 tasks', where: 'w', fix: 'f' }]);
    },
  ));

test('whoever stops reading the reports cancels the rest', () =>
  withBench({}, async (bench) => {
    const quick = await bench.task({ instruction: ':', test: pass });
    const slow = await bench.task({ instruction: 'sleep 300', test: pass });
    const requests = [quick, slow, slow].map((task, index) => ({
      key: `k${index}`,
      task,
      skill: null,
      attempt: 0,
      try: 0,
      signal: never(),
    }));
    for await (const one of bench.backend.performRollouts(requests, { signal: never() })) {
      expect(one.key).toBe('k0');
      break;
    }
  }));

test('the sweep ends and removes what an earlier process of this session left, and nothing else', async () => {
  const bench = await makeLocalBench();
  const up = mkdtempSync(join(tmpdir(), 'skillopt-test-up-'));
  // it has left the group, which ends with its leader, when its file is there
  const script = `setsid bash -c 'touch "$0"; exec sleep 300' "$0" >/dev/null 2>&1 & until [ -e "$0" ]; do sleep 0.01; done`;
  const leave = (session: string) =>
    runProcess({
      command: ['bash', '-c', script, join(up, session)],
      cwd: '/',
      env: { PATH: process.env.PATH ?? '' },
      timeoutMs: 20_000,
      mark: { name: markName, match: 'exact', value: `${session}/k` },
    });
  const other = `${bench.sessionId}-other`;
  await Promise.all([leave(bench.sessionId), leave(other)]);
  const asleep = async (session: string) => {
    const found = await findMarked({ name: markName, match: 'exact', value: `${session}/k` });
    return found.length === 1 && found[0]?.command === 'sleep 300';
  };
  while (!(await asleep(bench.sessionId)) || !(await asleep(other)));
  const mine = `skillopt-${bench.sessionId}-0123456789ab-Abc123`;
  const foreign = [`skillopt-${other}-0123456789ab-Abc123`, `${mine}4`, 'notes'];
  for (const name of [mine, ...foreign]) mkdirSync(join(bench.tempRoot, name, 'deep'), { recursive: true });

  const swept = await bench.backend.sweep();
  expect(swept).toHaveLength(2);
  expect(swept[0]).toContain('sleep 300');
  expect(swept[1]).toContain(mine);
  expect(readdirSync(bench.tempRoot).sort()).toEqual([...foreign].sort());
  expect(await findMarked({ name: markName, match: 'prefix', value: `${bench.sessionId}/` })).toEqual([]);
  expect(await reapLeftovers({ name: markName, match: 'exact', value: `${other}/k` })).toHaveLength(1);
  expect(await bench.backend.sweep()).toEqual([]);
  rmSync(up, { recursive: true });
  await bench.close();
});
