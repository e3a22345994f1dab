import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Part, ViewTree } from './view-tree.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'skillopt-view-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A small system: `usr/bin` with a program and a link to it, a link to the folder, and a program elsewhere. */
mkdirSync(join(base, 'usr/bin'), { recursive: true });
mkdirSync(join(base, 'opt'));
writeFileSync(join(base, 'usr/bin/dash'), '');
writeFileSync(join(base, 'opt/tool'), '');
symlinkSync('dash', join(base, 'usr/bin/sh'));
symlinkSync(join(base, 'opt/tool'), join(base, 'usr/bin/tool'));
const system: readonly Part[] = [
  { kind: 'bind', at: '/usr', from: join(base, 'usr'), writable: false },
  { kind: 'link', at: '/bin', target: 'usr/bin' },
];
const show = (at: string, from: string): Part => ({ kind: 'bind', at, from: join(base, from), writable: false });
const treeWith = (...parts: readonly Part[]) => ViewTree.of([...system, ...parts]);

describe('what is shown in a folder that is shown', () => {
  test.each([
    ['a file at its own place', '/usr/bin/dash', 'usr/bin/dash'],
    ['a link to one beside it', '/usr/bin/sh', 'usr/bin/sh'],
    ['the same by another way', '/bin/sh', 'usr/bin/sh'],
  ])('%s is shown already, and changes nothing', (_, at, from) => {
    const tree = treeWith(show(at, from));
    expect(tree.parts).toEqual(treeWith().parts);
    expect(tree.hostOf('/usr/bin')).toBe(join(base, 'usr/bin'));
  });

  test('a link that leads out of what is shown is given its file', () => {
    const tree = treeWith(show('/usr/bin/tool', 'usr/bin/tool'));
    expect(tree.hostOf('/usr/bin/tool')).toBe(join(base, 'opt/tool'));
    expect(tree.hostOf('/bin/sh')).toBe(join(base, 'usr/bin/dash'));
    expect(tree.parts).toEqual([...treeWith().parts, show(join(base, 'opt/tool'), 'opt/tool')]);
  });

  test('a link of a link, by another name of its folder, is given the file at its end', () => {
    symlinkSync('tool', join(base, 'usr/bin/again'));
    const tree = treeWith(show('/bin/again', 'usr/bin/again'));
    expect(tree.hostOf('/usr/bin/again')).toBe(join(base, 'opt/tool'));
    expect(tree.hostOf('/usr/bin')).toBe(join(base, 'usr/bin'));
  });

  test('what could be written is made read-only where that is asked for', () => {
    const writable: Part = { kind: 'bind', at: '/work', from: join(base, 'usr'), writable: true };
    const tree = treeWith(writable, show('/made/bin', 'usr/bin'));
    expect(tree.parts).toContainEqual(show('/made/bin', 'usr/bin'));
  });
});
