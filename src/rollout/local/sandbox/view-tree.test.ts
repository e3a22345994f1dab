import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { runProcess } from '../../../process/run-process.ts';
import { describeWalled } from '../sandbox-fixture.ts';
import { treeArgs, wallArgs } from './bubblewrap-args.ts';
import { type Part, ViewTree } from './view-tree.ts';

const files = ['a/x', 'a/y/z', 'a/y/deep/er/f', 'b/x', 'b/own/f', 'file', 'empty/.keep'];
let host: string;
beforeAll(() => {
  host = realpathSync(mkdtempSync(join(tmpdir(), 'view-tree-')));
  for (const file of files) {
    mkdirSync(dirname(join(host, file)), { recursive: true });
    writeFileSync(join(host, file), file);
  }
  symlinkSync('y', join(host, 'a', 'relative'));
  symlinkSync('/b/own', join(host, 'a', 'absolute'));
  symlinkSync('round', join(host, 'a', 'round'));
});
afterAll(() => rmSync(host, { recursive: true, force: true }));

const bind = (at: string, from: string, writable = false): Part => ({
  kind: 'bind',
  at,
  from: join(host, from),
  writable,
});
const shownAt = (tree: ViewTree) => tree.parts.map(({ at }) => at);
const hostOf = (tree: ViewTree, path: string) => tree.hostOf(path)?.slice(host.length + 1) ?? null;

describe('a tree of what is shown', () => {
  test('finds files behind what stands at a path, and nothing beside it', () => {
    const tree = ViewTree.of([bind('/a', 'a'), bind('/b/c/x', 'file')]);
    expect(['/a/x', '/a/y/z', '/b/c/x', '/a', '/a/', '/a/../a/x'].map((path) => hostOf(tree, path))).toEqual([
      'a/x',
      'a/y/z',
      'file',
      'a',
      'a',
      'a/x',
    ]);
    for (const path of ['/', '/b', '/b/c', '/b/c/y', '/a/nothing', '/c', host, join(host, 'a')])
      expect(tree.hostOf(path)).toBeNull();
  });

  test('follows links as they lead inside', () => {
    const tree = ViewTree.of([
      bind('/a', 'a'),
      bind('/b/own', 'empty'),
      { kind: 'link', at: '/l', target: 'a/y' },
      { kind: 'link', at: '/out', target: host },
    ]);
    expect(hostOf(tree, '/a/relative/z')).toBe('a/y/z');
    expect(hostOf(tree, '/a/absolute/.keep')).toBe('empty/.keep');
    expect(hostOf(tree, '/a/absolute/f')).toBeNull();
    expect(hostOf(tree, '/l/z')).toBe('a/y/z');
    expect(hostOf(tree, '/a/round')).toBeNull();
    expect(hostOf(tree, '/out/a/x')).toBeNull();
  });

  test('makes room in a shown folder that lacks the place', () => {
    const tree = ViewTree.of([bind('/a', 'a'), bind('/a/y/new/place', 'b')]);
    expect(shownAt(tree).sort()).toEqual([
      '/a',
      '/a/absolute',
      '/a/relative',
      '/a/round',
      '/a/x',
      '/a/y',
      '/a/y/deep',
      '/a/y/new/place',
      '/a/y/z',
    ]);
    expect(hostOf(tree, '/a/y/new/place/x')).toBe('b/x');
    expect(hostOf(tree, '/a/relative/new/place/x')).toBe('b/x');
    expect(hostOf(tree, '/a/y/deep/er/f')).toBe('a/y/deep/er/f');
  });

  test('says what has to be made in folders that are written', () => {
    const tree = ViewTree.of([
      bind('/w', 'b', true),
      bind('/w/own/s', 'a'),
      bind('/w/new/f', 'file'),
      bind('/w/own/f', 'file'),
    ]);
    expect(tree.placeholders).toEqual([
      { path: join(host, 'b/own/s'), kind: 'folder' },
      { path: join(host, 'b/new/f'), kind: 'file' },
    ]);
    expect([...tree.pointsInWritable].sort()).toEqual([
      join(host, 'b/new/f'),
      join(host, 'b/own/f'),
      join(host, 'b/own/s'),
    ]);
  });

  test('covers what is hidden, unless it is named', () => {
    const cover = (at: string): Part => ({ kind: 'cover', at });
    const tree = ViewTree.of([
      cover('/a/y'),
      cover('/a/x'),
      cover('/a/none'),
      cover('/elsewhere'),
      bind('/a', 'a'),
      bind('/a/y/deep', 'a/y/deep'),
    ]);
    expect(hostOf(tree, '/a/y/z')).toBeNull();
    expect(tree.hostOf('/a/x')).toBe('/dev/null');
    expect(hostOf(tree, '/a/y/deep/er/f')).toBe('a/y/deep/er/f');
    expect(shownAt(tree)).toEqual(['/a', '/a/y', '/a/x', '/a/y/deep']);
    const named = ViewTree.of([cover('/a/y'), bind('/a', 'a'), bind('/a/y', 'a/y')]);
    expect(hostOf(named, '/a/y/z')).toBe('a/y/z');
  });

  test('leaves out what is not there, and shows twice what is shown twice only once', () => {
    const tree = ViewTree.of([bind('/n', 'nothing'), bind('/a', 'a'), bind('/a/y', 'a/y')]);
    expect(shownAt(tree)).toEqual(['/a']);
  });
});

describeWalled('the tree is what bubblewrap builds', () => {
  const idOf = (path: string) => `${statSync(path).dev}:${statSync(path).ino}`;
  const names = ['a', 'b', 'own', 'x', 'y', 'deep', 'relative', 'absolute', 'new'];
  const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 }).map((list) => `/${list.join('/')}`);
  const source = fc.constantFrom('a', 'a/y', 'b', 'b/own', 'file', 'empty', 'a/y/deep');
  const part: fc.Arbitrary<Part> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.tuple(path, source).map(([at, from]) => ({ kind: 'bind', at, from, writable: false }) as const),
    },
    { weight: 1, arbitrary: path.map((at) => ({ kind: 'cover', at }) as const) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('/l', '/m'), path)
        .map(([at, target]) => ({ kind: 'link', at, target }) as const),
    },
  );

  test('path by path', () => {
    const all = files.flatMap((file) => file.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/')));
    const ids = new Set(all.map((one) => idOf(join(host, one))));
    return fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 5 }),
        fc.array(path, { minLength: 8, maxLength: 20 }),
        async (parts, asked) => {
          const own = parts.map((one) => (one.kind === 'bind' ? { ...one, from: join(host, one.from) } : one));
          const system = ['/usr', '/lib', '/lib64', '/bin'].map(
            (at): Part => ({ kind: 'bind', at, from: realpathSync(at), writable: false }),
          );
          const tree = ViewTree.of([...system, ...own]);
          const look = [...new Set([...asked, ...asked.map((one) => `/l${one}`)])];
          const end = await runProcess({
            command: [
              'bwrap',
              ...wallArgs({ network: 'on', closed: false }),
              ...treeArgs(tree),
              '/usr/bin/stat',
              '-L',
              '-c',
              '%n %d:%i',
              ...look,
            ],
            cwd: '/',
            env: { PATH: process.env.PATH ?? '' },
            timeoutMs: 60_000,
          });
          expect(end.stderr).not.toContain('bwrap:');
          const inside = new Map(end.stdout.split('\n').map((line) => line.split(' ') as [string, string]));
          for (const one of look) {
            const found = tree.hostOf(one);
            const id = found === null || found === '/dev/null' ? null : idOf(found);
            if (id !== null) expect([one, inside.get(one)]).toEqual([one, id]);
            else expect([one, ids.has(inside.get(one) ?? '')]).toEqual([one, false]);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});
