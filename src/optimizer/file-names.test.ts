import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { fileNames } from './file-names.ts';

test('plain ids keep their names; others get one that is their own', () => {
  const names = fileNames(['greet-alba', 'a/b', 'a b', '../../etc/passwd', '', '.hidden', 'Twin', 'twin'], '.md');
  expect(names[0]).toBe('greet-alba.md');
  expect(names.slice(1).map((n) => n.replace(/-[0-9a-f]{8}\.md$/, ''))).toEqual([
    'a_b',
    'a_b',
    'etc_passwd',
    'task',
    'hidden',
    'Twin',
    'twin',
  ]);
});

test('no file is called as those are that agents obey', () => {
  for (const name of fileNames(['CLAUDE', 'agents', 'claude.local', 'SKILL'], '.md'))
    expect(name).toMatch(/-[0-9a-f]{8}\.md$/);
  expect(fileNames(['claudia', 'skills-of-bo'], '.md')).toEqual(['claudia.md', 'skills-of-bo.md']);
});

test('every name is a plain one, and no two are the same on any file system', () => {
  const id = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 120 }),
    fc.string({ unit: 'grapheme-ascii', maxLength: 100 }),
    fc.constantFrom('CON', 'a', 'A', 'a.md', '..', 'é', 'e\u0301', 'x'.repeat(200), `${'x'.repeat(200)}y`),
  );
  fc.assert(
    fc.property(fc.uniqueArray(id, { maxLength: 12 }), (ids) => {
      const names = fileNames(ids, '.md');
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.md$/);
      expect(new Set(names.map((n) => n.toLowerCase())).size).toBe(ids.length);
    }),
  );
});
