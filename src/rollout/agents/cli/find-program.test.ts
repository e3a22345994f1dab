import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findProgram, type Program, startWords } from './find-program.ts';
import { needsOf } from './program-needs.ts';

let base = '';
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'skillopt-find-')));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const at = (...parts: string[]) => join(base, ...parts);

function file(path: string, text = '\u007fELF', mode = 0o755): string {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
  chmodSync(at(path), mode);
  return at(path);
}

function link(path: string, to: string): string {
  mkdirSync(dirname(at(path)), { recursive: true });
  symlinkSync(to, at(path));
  return at(path);
}

function found(name: string, ...folders: string[]): Program {
  const program = findProgram(name, folders.map((folder) => at(folder)).join(':'));
  if (program === null) throw new Error(`${name} was not found`);
  return program;
}

describe('findProgram', () => {
  test('takes the first that can be run, in the order of the PATH, and follows links to the file', () => {
    file('a/one', 'not to be run', 0o644);
    mkdirSync(at('b/one'), { recursive: true });
    link('b2/one', at('nowhere'));
    const real = file('store/one.bin');
    link('c/one', real);
    file('d/one');
    const program = found('one', 'a', 'b', 'b2', 'c', 'd');
    expect(program).toEqual({ path: at('c/one'), real, form: { kind: 'native' } });
    expect(startWords(program)).toEqual([real]);
  });

  test.each([
    ['a name that no folder holds', 'none', 'd'],
    ['a relative folder', 'one', '.'],
    ['an empty PATH', 'one', ''],
  ])('does not find %s', (_, name, path) => {
    expect(findProgram(name, path)).toBeNull();
  });

  test.each([
    ['env', '#!/usr/bin/env node\n', 'node', []],
    ['env -S with switches', '#!/usr/bin/env -S node --no-warnings=DEP0040\n', 'node', ['--no-warnings=DEP0040']],
    ['env with a variable', '#! /usr/bin/env -S A=b bun run\r\n', 'bun', ['run']],
  ])('a script is started by what its first line names: %s', (_, line, name, args) => {
    const node = file(`tools/${name}`);
    const script = file('scripts/agent', `${line}code`);
    const program = found('agent', 'scripts', 'tools');
    expect(program.form).toMatchObject({ kind: 'script', interpreter: { name, args, program: { real: node } } });
    expect(startWords(program)).toEqual([node, ...args, script]);
  });

  test('a script whose interpreter is not there can not be started', () => {
    file('alone/agent', '#!/usr/bin/env node\n');
    expect(startWords(found('agent', 'alone'))).toBeNull();
    file('alone2/agent', '#!/no/such/node\n');
    expect(startWords(found('agent', 'alone2', 'tools'))).toBeNull();
  });

  test('a script of a shell is a wrapper, started as it stands on PATH', () => {
    const path = file('w/agent', '#!/bin/sh\nexec elsewhere "$@"\n');
    expect(found('agent', 'w').form).toEqual({ kind: 'wrapper' });
    expect(startWords(found('agent', 'w'))).toEqual([path]);
  });
});

describe('needsOf', () => {
  const home = () => at('home/me');
  const shown = (program: Program, others: readonly Program[] = []) => needsOf(program, others, home());

  test('a native program alone: its file', () => {
    const real = file('share/agent/versions/2.0.0');
    link('n/agent', real);
    expect(shown(found('agent', 'n'))).toEqual({ show: [real], path: [] });
  });

  test('a package: the outermost node_modules, where its siblings are', () => {
    const real = file('pre/lib/node_modules/@x/agent/node_modules/dep/bin/agent');
    link('p/agent', real);
    expect(shown(found('agent', 'p')).show).toEqual([at('pre/lib/node_modules')]);
  });

  test('a script outside of any: its package, and its interpreter with its installation', () => {
    file('code/agent/package.json', '{}');
    const real = file('code/agent/dist/cli.js', '#!/usr/bin/env node\n');
    link('s/agent', real);
    const node = file('nodes/v26/bin/node');
    mkdirSync(at('nodes/v26/include/node'), { recursive: true });
    link('s/node', node);
    const { show, path } = shown(found('agent', 's'));
    expect(show).toEqual([at('code/agent'), at('s/node'), node, at('nodes/v26')]);
    expect(path).toEqual([at('s')]);
  });

  test.each([
    ['/nix/store/abc-agent/bin/agent', '/nix/store'],
    ['/home/linuxbrew/.linuxbrew/Cellar/agent/1/bin/agent', '/home/linuxbrew/.linuxbrew'],
  ])('a store is shown as a whole: %s', (real, root) => {
    expect(shown({ path: real, real, form: { kind: 'native' } }).show).toEqual([root]);
  });

  test('the home is never shown, whatever lies in it', () => {
    file('home/me/package.json', '{}');
    const real = file('home/me/bin/agent', '#!/usr/bin/env node\n');
    file('home/me/bin/node');
    mkdirSync(at('home/me/include/node'), { recursive: true });
    const { show } = shown(found('agent', 'home/me/bin'));
    expect(show).toEqual([real, at('home/me/bin/node')]);
    const brew = `${base}/Cellar/agent/bin/agent`;
    expect(needsOf({ path: brew, real: brew, form: { kind: 'native' } }, [], home()).show).toEqual([brew]);
  });

  test('other programs are found by their names: as they stand on PATH, with their folder first there', () => {
    file('n2/agent');
    const rg = file('cargo/bin/rg');
    link('local/rg', rg);
    const { show, path } = shown(found('agent', 'n2'), [found('rg', 'local')]);
    expect(show).toEqual([at('n2/agent'), at('local/rg'), rg]);
    expect(path).toEqual([at('local')]);
  });

  test('folders of the system stand on every PATH', () => {
    file('n3/agent');
    const sh: Program = { path: '/usr/bin/rg', real: '/usr/bin/rg', form: { kind: 'native' } };
    expect(shown(found('agent', 'n3'), [sh]).path).toEqual([]);
  });
});
