import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyPatch } from 'diff';
import fc from 'fast-check';
import { diffStats, hunks, unifiedDiff } from './diff.ts';

const names = { before: 'a/SKILL.md', after: 'b/SKILL.md' };
const lines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}\n`).join('');

const CASES: readonly (readonly [name: string, before: string, after: string])[] = [
  ['one line', 'a\nb\nc\n', 'a\nB\nc\n'],
  ['far apart', lines(40), lines(40).replace('line 3\n', '').replace('line 30\n', 'line 30\nmore\n')],
  ['CRLF', 'a\r\nb\r\nc\r\n', 'a\r\nB\r\nc\r\nd\r\n'],
  ['one line end', 'a\r\nb\nc\r\n', 'a\r\nb\r\nc\r\n'],
  ['a lone carriage return', 'a\rb\nc\n', 'a\rb\nC\n'],
  ['a carriage return goes at the end of a file', 'a\nb\r', 'a\nb'],
  ['final line end added', 'a\nb', 'a\nb\n'],
  ['final line end removed', 'a\nb\n', 'a\nb'],
  ['no final line end', 'a\nb\nc', 'a\nB\nc'],
  ['no final line end, end changed', 'a\nb', 'a\nc'],
  ['CRLF without final line end', 'a\r\nb', 'a\r\nb\r\nc'],
  ['lines that look like a diff', '--- a\n+++ b\n@@ -1 +1 @@\n\\ x\n', '--- a\n+++ c\n@@ -1 +1 @@\n\\ y\n'],
  ['byte order mark and Unicode', '\uFEFFé\n汉\n🦀\n', '\uFEFFé\n漢\n🦀\n'],
  ['blank lines', '\n\n\n', '\n\n'],
  ['from nothing', '', 'a\n'],
  ['line separators of Unicode', 'a\u2028b\u0085c\nd\n', 'a\u2028b\u0085c\ne\n'],
];

describe('unifiedDiff', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skill-diff-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** What the tool makes of `before` and the patch. */
  function applied(command: readonly string[], before: string, patch: string, file = 'SKILL.md'): string {
    const path = join(folder, file);
    writeFileSync(path, before);
    const run = Bun.spawnSync([...command], {
      cwd: folder,
      stdin: new TextEncoder().encode(patch),
      env: {
        ...process.env,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CEILING_DIRECTORIES: folder,
      },
    });
    if (run.exitCode !== 0) throw new Error(`${command.join(' ')}: ${run.stdout}${run.stderr}`);
    const after = readFileSync(path, 'utf8');
    return after.startsWith('\uFEFF') || !before.startsWith('\uFEFF') ? after : `\uFEFF${after}`;
  }

  const tools = [
    ['patch', '-p1', '--no-backup-if-mismatch', '-f'],
    ['git', 'apply'],
  ].filter(([program]) => Bun.which(program!) !== null);

  describe.each(tools.map((command) => [command[0], command] as const))('%s', (_program, command) => {
    test.each(CASES)('applies: %s', (_name, before, after) => {
      const patch = unifiedDiff(before, after, names);
      expect(applied(command, before, patch)).toBe(after);
    });

    test('takes a file name with blanks and letters beyond ASCII', () => {
      const patch = unifiedDiff('a\n', 'b\n', { before: 'a/my skill é.md', after: 'b/my skill é.md' });
      expect(applied(command, 'a\n', patch, 'my skill é.md')).toBe('b\n');
      const blanks = unifiedDiff('a\n', 'b\n', { before: 'a/my skill.md', after: 'b/my skill.md' });
      expect(applied(command, 'a\n', blanks, 'my skill.md')).toBe('b\n');
    });
  });

  test('equal texts have no diff', () => {
    expect(unifiedDiff('a\n', 'a\n', names)).toBe('');
    expect(diffStats('a\n', 'a\n')).toEqual({ added: 0, removed: 0 });
    expect(hunks('a\n', 'a\n')).toEqual([]);
  });

  test('has the usual form', () => {
    expect(unifiedDiff('a\nb\n', 'a\nc', names)).toBe(
      '--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n',
    );
  });
});

describe('diffStats', () => {
  test.each([
    ['a changed line', 'a\nb\n', 'a\nc\n', 1, 1],
    ['lines added at both ends', 'b\n', 'a\nb\nc\n', 2, 0],
    ['a line of dashes removed', 'a\n---\n', 'a\n', 0, 1],
    ['a final line end', 'a', 'a\n', 1, 1],
  ] as const)('%s', (_name, before, after, added, removed) => {
    expect(diffStats(before, after)).toEqual({ added, removed });
  });
});

describe('hunks', () => {
  test('name lines and line ends', () => {
    expect(hunks('a\r\nb\r\nc', 'a\r\nB\r\nc')).toEqual([
      {
        beforeStart: 1,
        beforeCount: 3,
        afterStart: 1,
        afterCount: 3,
        lines: [
          { kind: 'same', text: 'a', lineEnd: '\r\n', beforeLine: 1, afterLine: 1 },
          { kind: 'removed', text: 'b', lineEnd: '\r\n', beforeLine: 2, afterLine: null },
          { kind: 'added', text: 'B', lineEnd: '\r\n', beforeLine: null, afterLine: 2 },
          { kind: 'same', text: 'c', lineEnd: '', beforeLine: 3, afterLine: 3 },
        ],
      },
    ]);
  });

  test('far changes make two hunks, the whole file as context one', () => {
    const after = lines(40).replace('line 3\n', '').replace('line 30\n', 'x\n');
    expect(hunks(lines(40), after).map((h) => [h.beforeStart, h.afterStart])).toEqual([
      [1, 1],
      [27, 26],
    ]);
    expect(hunks(lines(40), after, Number.POSITIVE_INFINITY)).toHaveLength(1);
  });
});

describe('for any two texts', () => {
  const text = fc
    .array(
      fc.tuple(
        fc.constantFrom('a', 'b', '', '- c', '+ d', '\\ e', '--- x', 'é🦀'),
        fc.constantFrom('\n', '\r\n', '\n'),
      ),
    )
    .chain((parts) => fc.tuple(fc.constant(parts.map((p) => p.join('')).join('')), fc.constantFrom('', 'end')))
    .map((parts) => parts.join(''));

  test('the diff leads from one to the other, and counts and hunks agree with it', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const patch = unifiedDiff(before, after, names);
        if (before !== after) expect(applyPatch(before, patch, { autoConvertLineEndings: false })).toBe(after);
        const whole = hunks(before, after, Number.POSITIVE_INFINITY).flatMap((h) => h.lines);
        const side = (without: string) =>
          whole
            .filter((line) => line.kind !== without)
            .map((line) => line.text + line.lineEnd)
            .join('');
        if (before !== after) expect([side('added'), side('removed')]).toEqual([before, after]);
        expect(diffStats(before, after)).toEqual({
          added: whole.filter((line) => line.kind === 'added').length,
          removed: whole.filter((line) => line.kind === 'removed').length,
        });
      }),
      { numRuns: 300 },
    );
  });
});
