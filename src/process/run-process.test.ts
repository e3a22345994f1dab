import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findMarked, reapLeftovers } from './reap-leftovers.ts';
import { type ProcessOptions, runProcess } from './run-process.ts';
import { waitUntil } from './wait.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'process-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = process.env.PATH ?? '/usr/bin:/bin';

function bash(script: string, more: Partial<ProcessOptions> = {}) {
  return runProcess({
    command: ['bash', '-c', script],
    cwd: folder,
    env: { PATH: path, HOME: folder },
    timeoutMs: 20_000,
    ...more,
  });
}

/** Does the process whose id the file holds still run? One that is dead and not yet collected does not. */
function lives(pidFile: string): boolean {
  const pid = readFileSync(pidFile, 'utf8').trim();
  const state = Bun.spawnSync(['ps', '-o', 'state=', '-p', pid]).stdout.toString().trim();
  return state !== '' && !state.startsWith('Z');
}

describe('a command', () => {
  test('ends with its code and its outputs apart', async () => {
    const end = await bash('echo out; echo err >&2; exit 3');
    expect(end).toMatchObject({ cause: 'exited', exitCode: 3, signal: null, stdout: 'out\n', stderr: 'err\n' });
    expect(end.droppedBytes).toBe(0);
  });

  test('may have a deadline of years', async () => {
    expect(await bash('echo here', { timeoutMs: 1e11 })).toMatchObject({ cause: 'exited', stdout: 'here\n' });
  });

  test('that a signal ended says which', async () => {
    expect(await bash('kill -9 $$')).toMatchObject({ cause: 'signal', exitCode: null, signal: 'SIGKILL' });
  });

  test('gets exactly the environment given', async () => {
    const end = await runProcess({ command: ['/usr/bin/env'], cwd: '/', env: { A: '1', B: 'x y' }, timeoutMs: 20_000 });
    expect(end.stdout.trim().split('\n').sort()).toEqual(['A=1', 'B=x y']);
  });

  test('is looked up in the PATH of that environment', async () => {
    const end = await runProcess({ command: ['bash', '-c', ':'], cwd: '/', env: { PATH: folder }, timeoutMs: 20_000 });
    expect(end.cause).toBe('not-started');
  });

  test('reads a long stdin whole', async () => {
    expect((await bash('wc -c', { stdin: 'x'.repeat(3_000_000) })).stdout.trim()).toBe('3000000');
  });

  test('may leave its stdin unread, and has none unless given', async () => {
    expect(await bash('exit 0', { stdin: 'x'.repeat(3_000_000) })).toMatchObject({ cause: 'exited', exitCode: 0 });
    expect((await bash('cat; echo end')).stdout).toBe('end\n');
  });

  test('writes into files, both streams into one if asked', async () => {
    const file = join(folder, 'both.txt');
    const end = await bash('echo 1; echo 2 >&2; echo 3', { stdoutFile: file, stderrFile: file });
    expect(end.stdout).toBe('');
    expect(readFileSync(file, 'utf8')).toBe('1\n2\n3\n');
  });

  test('has its captured output bounded, beginning and end kept', async () => {
    const end = await bash('echo BEGIN; yes | head -n 500000; echo END', { maxOutputBytes: 200 });
    const [head = '', tail = ''] = end.stdout.split(`\n… ${end.droppedBytes} bytes cut …\n`);
    expect(head).toStartWith('BEGIN\ny\n');
    expect(tail).toEndWith('y\nEND\n');
    expect(head.length + tail.length + end.droppedBytes).toBe(1_000_000 + 'BEGIN\nEND\n'.length);
    expect(head.length + tail.length).toBeLessThanOrEqual(200);
  });

  test('has stderr in stdout when they are merged', async () => {
    const end = await bash('echo 1; echo 2 >&2', { mergeStderr: true });
    expect(end.stdout.split('\n').sort()).toEqual(['', '1', '2']);
    expect(end.stderr).toBe('');
  });
});

describe('a command that cannot start is a value', () => {
  const cases: readonly (readonly [string, Partial<ProcessOptions>, RegExp])[] = [
    ['not found', { command: ['no-such-command-here'] }, /no-such-command-here was not found on its PATH$/],
    ['not found on another PATH', { env: { PATH: '/nowhere' } }, /bash was not found on its PATH$/],
    ['no such file', { command: ['/no/such/program'] }, /\/no\/such\/program was not found$/],
    ['not executable', { command: ['/etc/passwd'] }, /not executable/],
    ['no such folder', { cwd: '/no/such/folder' }, /folder \/no\/such\/folder is missing/],
    ['argument too long', { command: ['true', 'x'.repeat(300_000)] }, /longer than/],
    ['arguments too long', { command: ['true', ...Array(90).fill('x'.repeat(100_000))] }, /too long together/],
    ['output file', { stdoutFile: '/no/such/folder/out' }, /output file/],
  ];
  for (const [name, more, detail] of cases) {
    test(name, async () => {
      const end = await bash(':', more);
      expect(end).toMatchObject({ cause: 'not-started', exitCode: null, systemRefused: false });
      expect(end.detail).toMatch(detail);
    });
  }
});

test('a command for which the system has no room is told apart from one that cannot start', async () => {
  const file = join(folder, 'no-room.ts');
  writeFileSync(
    file,
    `import { closeSync, openSync } from 'node:fs';
    import { runProcess } from ${JSON.stringify(join(import.meta.dir, 'run-process.ts'))};
    const run = (more) => runProcess({ command: ['true'], cwd: '/', env: { PATH: process.env.PATH }, timeoutMs: 20_000, ...more });
    await run({});
    const held = [];
    const fill = () => { try { for (;;) held.push(openSync('/dev/null', 'r')); } catch {} };
    fill();
    const ends = [await run({}), await run({ stdoutFile: ${JSON.stringify(join(folder, 'out'))} }), await run({ command: ['no-such-command-here'] })];
    fill(); // what was opened on the way may have been closed only now
    closeSync(held.pop()), closeSync(held.pop()), closeSync(held.pop());
    ends.push(await run({}));
    for (const fd of held) closeSync(fd);
    ends.push(await run({}));
    console.log(JSON.stringify(ends.map(({ cause, systemRefused }) => [cause, systemRefused])));
    console.log(ends[0].detail);`,
  );
  const end = await bash('', { command: ['bash', '-c', 'ulimit -n 80; exec "$0" "$1"', process.execPath, file] });
  const [ends = '', detail] = end.stdout.split('\n');
  expect(JSON.parse(ends)).toEqual([
    ['not-started', true],
    ['not-started', true],
    ['not-started', false],
    ['not-started', true],
    ['exited', false],
  ]);
  expect(detail).toContain('EMFILE');
});

describe('the end of a group', () => {
  test('deadline: TERM first', async () => {
    const end = await bash('trap "echo bye; exit 0" TERM; echo $$; while :; do sleep 0.02; done', { timeoutMs: 300 });
    expect(end).toMatchObject({ cause: 'timeout', exitCode: 0 });
    expect(end.stdout).toContain('bye');
  });

  test('deadline: KILL after the grace, descendants too', async () => {
    const end = await bash(
      'trap "" TERM; (trap "" TERM; echo $BASHPID > stubborn; while :; do sleep 0.05; done) & wait',
      {
        timeoutMs: 300,
        graceMs: 200,
      },
    );
    expect(end).toMatchObject({ cause: 'timeout', signal: 'SIGKILL' });
    expect(await waitUntil(() => !lives(join(folder, 'stubborn')), 5_000)).toBe(true);
  });

  test('cancel, before and while it runs', async () => {
    expect((await bash('touch never', { signal: AbortSignal.abort() })).cause).toBe('cancelled');
    expect(existsSync(join(folder, 'never'))).toBe(false);
    const controller = new AbortController();
    const running = bash('echo $$ > running; sleep 60', { signal: controller.signal });
    await waitUntil(() => existsSync(join(folder, 'running')), 10_000);
    controller.abort();
    expect(await running).toMatchObject({ cause: 'cancelled', signal: 'SIGTERM' });
  });

  test('a background job of a command that ended well is ended and does not hold the result', async () => {
    const end = await bash('sleep 60 & echo $! > job; echo done');
    expect(end).toMatchObject({ cause: 'exited', exitCode: 0, stdout: 'done\n', abandonedOutput: false });
    expect(await waitUntil(() => !lives(join(folder, 'job')), 5_000)).toBe(true);
  });

  test('a helper that ends by itself may finish its writing', async () => {
    await bash('exec > >(sleep 0.05; cat > late.txt); echo kept');
    expect(readFileSync(join(folder, 'late.txt'), 'utf8')).toBe('kept\n');
  });

  test('a job in a session of its own does not hold the result, and is reaped by its mark', async () => {
    const mark = { name: 'PROCESS_TEST', match: 'exact', value: `run-${process.pid}` } as const;
    const end = await bash(
      'setsid bash -c "echo \\$\\$ > alone; exec sleep 60" & until [ -s alone ]; do sleep 0.01; done',
      {
        mark,
      },
    );
    expect(end).toMatchObject({ cause: 'exited', exitCode: 0, abandonedOutput: true });
    expect(lives(join(folder, 'alone'))).toBe(true);
    const ended = await reapLeftovers(mark);
    expect(ended).toHaveLength(1);
    expect(ended[0]).toContain('sleep 60');
    expect(await findMarked(mark)).toEqual([]);
    expect(await reapLeftovers(mark)).toEqual([]);
  });

  test('reaping by prefix ends all of a session and nobody else, KILL where TERM is ignored', async () => {
    const stubborn = `trap '' TERM; touch $0; while :; do sleep 0.05; done`;
    const start = (value: string) => {
      const file = `up-${value.replace('/', '-')}`;
      return bash(`setsid bash -c "$STUBBORN" ${file} >/dev/null 2>&1 & until [ -e ${file} ]; do sleep 0.01; done`, {
        env: { PATH: path, STUBBORN: stubborn },
        mark: { name: 'PROCESS_TEST', match: 'exact', value },
      });
    };
    const session = `session-${process.pid}`;
    await Promise.all([start(`${session}/a`), start(`${session}/b`), start(`other-${session}/a`)]);
    const ended = await reapLeftovers({ name: 'PROCESS_TEST', match: 'prefix', value: `${session}/` }, 200);
    expect(ended.length).toBeGreaterThanOrEqual(2);
    expect(await findMarked({ name: 'PROCESS_TEST', match: 'prefix', value: `${session}/` })).toEqual([]);
    const other = { name: 'PROCESS_TEST', match: 'exact', value: `other-${session}/a` } as const;
    expect((await findMarked(other)).length).toBeGreaterThan(0);
    await reapLeftovers(other, 100);
  });
});

test('a program that is asked winds down by itself: its children are ended when it is gone, and it hears one signal', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ask-'));
  try {
    const script = [
      'sleep 300 & child=$!',
      `trap 'kill -0 $child && echo child lives >> ${folder}/said; echo int >> ${folder}/said; exit 7' INT`,
      `trap 'echo term >> ${folder}/said' TERM`,
      `echo ready > ${folder}/ready; while :; do sleep 0.05; done`,
    ].join('\n');
    const stop = new AbortController();
    const running = runProcess({
      command: ['bash', '-c', script],
      cwd: folder,
      env: { PATH: '/usr/bin:/bin' },
      timeoutMs: null,
      signal: stop.signal,
      ask: 'SIGINT',
      graceMs: 20_000,
    });
    while (!existsSync(join(folder, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort();
    const end = await running;
    expect([end.cause, end.exitCode]).toEqual(['cancelled', 7]);
    expect(readFileSync(join(folder, 'said'), 'utf8')).toBe('child lives\nint\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
