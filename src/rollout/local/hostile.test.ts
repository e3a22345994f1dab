import { describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasProcFiles, isAlive } from '../../process/process-table.ts';
import { runProcess } from '../../process/run-process.ts';
import { waitUntil } from '../../process/wait.ts';
import { type LocalBench, makeLocalBench } from './bench-fixture.ts';
import { resultOf, withBench } from './bench-runs-fixture.ts';

const pass = 'echo 1 > "$LOGS_DIR/verifier/reward.txt"';
const isRoot = process.getuid?.() === 0;

function chattr(...args: readonly string[]) {
  return runProcess({ command: ['chattr', ...args], cwd: '/', env: { PATH: '/usr/bin:/bin' }, timeoutMs: 20_000 });
}

/** Nothing but an immutable file stands in the way of root. */
async function canMakeImmutable(): Promise<boolean> {
  const file = join(tmpdir(), `immutable-${process.pid}`);
  writeFileSync(file, '');
  const can = (await chattr('+i', file)).exitCode === 0;
  await chattr('-i', file);
  rmSync(file);
  return can;
}
const canNail = !isRoot || (await canMakeImmutable());

describe.if(canNail)('a folder that cannot be removed', () => {
  const stays = /^folder .* could not be removed \((EPERM|EACCES): .*\); remove it by hand$/;

  test('does not keep a session from starting: it is named, and all else is done', async () => {
    const bench = await makeLocalBench();
    const names = ['aaaaaa', 'bbbbbb', 'cccccc'].map((end) => `skillopt-${bench.sessionId}-0123456789ab-${end}`);
    for (const name of names) {
      mkdirSync(join(bench.tempRoot, name, 'deep'), { recursive: true });
      writeFileSync(join(bench.tempRoot, name, 'deep', 'file'), '');
    }
    const nailed = join(bench.tempRoot, names[1]!, 'deep', 'nailed');
    if (isRoot) {
      writeFileSync(nailed, '');
      await chattr('+i', nailed);
    } else chmodSync(bench.tempRoot, 0o555);

    const swept = await bench.backend.sweep();
    expect(swept).toHaveLength(3);
    expect(swept[1]).toContain(names[1]!);
    expect(swept[1]).toMatch(stays);
    expect(existsSync(join(bench.tempRoot, names[1]!, 'deep', 'file'))).toBe(false);
    if (isRoot) expect(readdirSync(bench.tempRoot)).toEqual([names[1]!]);

    if (isRoot) await chattr('-i', nailed);
    else chmodSync(bench.tempRoot, 0o755);
    expect((await bench.backend.sweep()).filter((line) => stays.test(line))).toEqual([]);
    expect(readdirSync(bench.tempRoot)).toEqual([]);
    await bench.close();
  });

  test('after a rollout: the outcome stands, and a note says so', () =>
    withBench({}, async (bench) => {
      const nail = isRoot ? 'touch nailed; chattr +i nailed' : 'chmod 555 "$APP_DIR/../.."';
      const task = await bench.task({ instruction: nail, test: pass });
      const { outcome, trajectory } = await resultOf(bench, task);
      expect(outcome).toMatchObject({ status: 'scored', hard: 1 });
      expect(trajectory?.steps.at(-1)).toMatchObject({ kind: 'note' });
      expect(JSON.stringify(trajectory?.steps.at(-1))).toMatch(/could not be removed: (EPERM|EACCES)/);
      const [left = ''] = readdirSync(bench.tempRoot);
      if (isRoot) await chattr('-i', join(bench.tempRoot, left, 'app', 'nailed'));
      else chmodSync(bench.tempRoot, 0o755);
      expect(await bench.backend.sweep()).toEqual([`folder ${join(bench.tempRoot, left)}`]);
    }));
});

describe.if(hasProcFiles)('a process that threw its environment away', () => {
  const hidden = (pidFile: string) =>
    `env -i setsid bash -c 'echo $$ > ${pidFile}; exec sleep 321' >/dev/null 2>&1 & until [ -s ${pidFile} ]; do sleep 0.01; done`;

  /** The command line of the process whose id the file holds; empty = it is gone, or dead and not yet collected. */
  const commandOf = (pidFile: string): string => {
    try {
      return readFileSync(`/proc/${readFileSync(pidFile, 'utf8').trim()}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };

  test('ends with the rollout, of the agent before the tests come into being', () =>
    withBench({}, async (bench) => {
      const [ofAgent, ofVerifier] = ['agent.pid', 'verifier.pid'].map((name) => join(bench.folder, name)) as [
        string,
        string,
      ];
      const test = `ps -o args= -p $(cat ${ofAgent}) | grep 'sleep 321'; ${hidden(ofVerifier)}; ${pass}`;
      const { outcome, trajectory } = await resultOf(bench, await bench.task({ instruction: hidden(ofAgent), test }));
      expect(outcome).toMatchObject({ status: 'scored', hard: 1 });
      expect(trajectory?.verifier?.output).toBe('');
      expect(existsSync(ofAgent) && existsSync(ofVerifier)).toBe(true);
      expect([commandOf(ofAgent), commandOf(ofVerifier)]).toEqual(['', '']);
    }));

  test('of an earlier process of the session ends in the sweep, in the folders of the session alone', () =>
    withBench({}, async (bench) => {
      const leave = async (name: string) => {
        const cwd = join(bench.tempRoot, name, 'app');
        const pidFile = join(bench.folder, `${name}.pid`);
        mkdirSync(cwd, { recursive: true });
        const env = { PATH: process.env.PATH ?? '' };
        await runProcess({ command: ['bash', '-c', hidden(pidFile)], cwd, env, timeoutMs: 20_000 });
        return pidFile;
      };
      const mine = await leave(`skillopt-${bench.sessionId}-0123456789ab-aaaaaa`);
      const other = await leave(`skillopt-other-${bench.sessionId}-0123456789ab-aaaaaa`);
      expect(commandOf(mine)).toContain('321');
      const swept = await bench.backend.sweep();
      expect(swept).toHaveLength(2);
      expect(swept[0]).toContain('sleep 321');
      expect(commandOf(mine)).toBe('');
      expect(commandOf(other)).toContain('321');
      const pid = Number(readFileSync(other, 'utf8'));
      process.kill(pid, 'SIGKILL');
      // one that is about to end has no command line any more, but still its folder
      expect(await waitUntil(() => !isAlive(pid), 20_000)).toBe(true);
      rmSync(join(bench.tempRoot, `skillopt-other-${bench.sessionId}-0123456789ab-aaaaaa`), { recursive: true });
    }));
});

describe('an agent that stands in the way of the verifier', () => {
  const keepsItsSteps = async (bench: LocalBench, instruction: string) => {
    const { outcome, exit, trajectory } = await resultOf(bench, await bench.task({ instruction, test: pass }));
    expect(exit).toBe('finished');
    expect(trajectory?.steps[0]).toMatchObject({ kind: 'tool', input: instruction });
    return outcome;
  };

  test.if(canNail)('at the place of the tests, for good, has tampered', () =>
    withBench({}, async (bench) => {
      const nail = isRoot ? 'mkdir ../tests; touch ../tests/nailed; chattr +i ../tests/nailed' : 'chmod 555 ..';
      const outcome = await keepsItsSteps(bench, nail);
      expect(outcome).toMatchObject({ status: 'unscored', reason: 'tampered' });
      expect(JSON.stringify(outcome)).not.toContain(bench.tempRoot);
      if (!isRoot) return;
      const [left = ''] = readdirSync(bench.tempRoot);
      await chattr('-i', join(bench.tempRoot, left, 'tests', 'nailed'));
      await bench.backend.sweep();
    }),
  );

  test('is judged on what is in a workspace that it closed', () =>
    withBench({}, async (bench) => {
      const outcome = await keepsItsSteps(bench, 'chmod 000 "$APP_DIR"');
      expect(outcome).toMatchObject({ status: 'scored', hard: 1 });
    }));

  test('is told from a pack that is gone', async () => {
    const prepareFiles = async (task: { readonly dir: string }) => {
      rmSync(join(task.dir, 'tests'), { recursive: true });
      return [];
    };
    await withBench({ prepareFiles }, async (bench) => {
      const outcome = await keepsItsSteps(bench, ':');
      expect(outcome).toMatchObject({ status: 'unscored', reason: 'environment' });
      expect(outcome.status === 'unscored' && outcome.detail).toContain("'<task>/tests'");
    });
  });
});

test('a reward that is there and cannot be read is said to be so', () =>
  withBench({}, async (bench) => {
    const test = isRoot
      ? 'rmdir "$LOGS_DIR/verifier"; ln -s verifier "$LOGS_DIR/verifier"'
      : `${pass}; chmod 000 "$LOGS_DIR/verifier/reward.txt"`;
    const { outcome } = await resultOf(bench, await bench.task({ instruction: ':', test }));
    expect(outcome).toMatchObject({ status: 'unscored', reason: 'verifier-bad-reward' });
    expect(outcome.status === 'unscored' && outcome.detail).toMatch(
      /^reward\.\w+: can not be read \((ELOOP|EACCES)\)$/,
    );
  }));
