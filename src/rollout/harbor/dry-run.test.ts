import { describe, expect, test } from 'bun:test';
import { notStarted, type ProcessEnd } from '../../process/process-end.ts';
import { freeIn, roomFindings } from './docker-preflight.ts';
import { lintFindings, reasonIn, refusal } from './dry-run.ts';

const ended = (stdout: string, exitCode = 0, stderr = ''): ProcessEnd => ({
  ...notStarted(''),
  cause: 'exited',
  exitCode,
  stdout,
  stderr,
});

describe('what a dry run says', () => {
  const tasks = [
    { id: 'one', dir: '/p/one' },
    { id: 'one-b', dir: '/p/one-b' },
  ];
  test('its reason, as one line', () => {
    expect(reasonIn('table\nDry run failed: a\n  b \n\n    For further information visit x\n')).toBe('a b');
    expect(reasonIn('Dry run OK')).toBeNull();
  });

  test.each([
    ['names a task', 'Dry run failed: Task directory /p/one-b is missing instruction.md.', 'task one-b (/p/one-b)'],
    ['names a file of it', "Dry run failed: No such file: '/p/one/task.toml'", 'task one (/p/one)'],
    ['names none', 'Dry run failed: Invalid value (at line 1, column 5)', '`harbor run --dry-run`'],
  ] as const)('%s', (_name, stdout, where) => {
    expect(refusal(ended(stdout, 1), tasks).where).toBe(where);
  });

  test('a traceback is told by its error', () => {
    const stderr = 'Traceback (most recent call last):\n  File "x", line 1\nKeyError: \'boom\'\n';
    expect(refusal(ended('', 1, stderr), tasks).what).toBe("Harbor would refuse the job: KeyError: 'boom'");
  });

  test('what makes tasks invalid, by task', () => {
    const found = [
      { rule: 'invalid-task-config', path: '/p/one/task.toml', message: 'cpus.int: bad;' },
      { rule: 'invalid-task-config', path: '/p/one/task.toml', message: 'cpus.float: bad.' },
      { rule: 'shared-verifier', path: '/p/one/task.toml', message: 'shared' },
      { rule: 'invalid-task-files', path: '/p/one-b/tests/test.sh', message: 'Missing' },
    ].map((one) => ({ ...one, line: null, column: null }));
    expect(lintFindings(JSON.stringify(found), tasks).map(({ what, where }) => `${where}: ${what}`)).toEqual([
      'task one: /p/one/task.toml: Harbor takes this task for invalid: cpus.int: bad; cpus.float: bad',
      'task one-b: /p/one-b/tests/test.sh: Harbor takes this task for invalid: Missing',
    ]);
    expect(lintFindings('no json', tasks)).toEqual([]);
  });
});

describe('room for Docker', () => {
  test('is read from df in a container', () => {
    expect(freeIn('word\nFilesystem 1024-blocks Used Available Capacity Mounted on\noverlay 100 1 2048 1% /\n')).toBe(
      2_097_152,
    );
    expect(freeIn('word\n')).toBeNull();
  });
  test.each([
    [null, []],
    [5e9, []],
    [4.9e9, ['warning']],
    [0.9e9, ['error']],
  ] as const)('%p bytes', (free, levels) => {
    expect(roomFindings(free, '/var/lib/docker').map(({ level }) => level)).toEqual([...levels]);
  });
});
