import { describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { foldersIn } from '../folders.ts';
import type { SandboxView } from '../sandbox.ts';
import { profileOf, SandboxExec } from './sandbox-exec.ts';
import { seatbeltProfile } from './seatbelt-profile.ts';

const profile = (more: Partial<Parameters<typeof seatbeltProfile>[0]> = {}) =>
  seatbeltProfile({
    writable: ['/private/t/r/app', '/private/t/r/home'],
    readable: ['/Users/u/tools', '/private/t/r/skills'],
    hidden: ['/Users/u', '/private/t', '/Users/u/tools/session'],
    firm: ['/private/t/r/skills'],
    network: 'off',
    gatewayPort: null,
    ...more,
  });

describe('the profile for sandbox-exec (its text; no Mac runs it here)', () => {
  test('decides about reading from the outside inwards, and writes nothing but what is the rollout’s', () => {
    const lines = profile().split('\n');
    expect(lines.filter((line) => line.includes('file-read* '))).toEqual([
      '(deny file-read* (subpath "/Users/u"))',
      '(deny file-read* (subpath "/private/t"))',
      '(allow file-read* (subpath "/Users/u/tools"))',
      '(deny file-read* (subpath "/Users/u/tools/session"))',
      '(allow file-read* (subpath "/private/t/r/skills"))',
      '(allow file-read* (subpath "/private/t/r/app"))',
      '(allow file-read* (subpath "/private/t/r/home"))',
    ]);
    const writes = lines.filter((line) => line.includes('file-write*'));
    expect(writes[0]).toBe('(deny file-write*)');
    expect(writes[1]).toBe('(allow file-write* (subpath "/private/t/r/app") (subpath "/private/t/r/home"))');
    expect(writes.at(-1)).toBe('(deny file-write* (subpath "/private/t/r/skills"))');
    expect(lines.find((line) => line.includes('file-read-metadata'))).toContain('(literal "/Users/u")');
  });

  test('lets nothing out but to the gateway', () => {
    const network = (text: string) => text.split('\n').filter((line) => /network/.test(line) && !line.startsWith(';'));
    expect(network(profile())).toEqual(['(deny network*)']);
    expect(network(profile({ gatewayPort: 4711 }))).toEqual([
      '(deny network*)',
      '(allow network-outbound (remote ip "localhost:4711"))',
    ]);
    expect(network(profile({ network: 'on', gatewayPort: 4711 }))).toEqual([]);
  });

  test('is balanced, and holds names with quotes and backslashes', () => {
    const text = profile({ hidden: ['/a"b\\c'], firm: [], readable: [], writable: [] });
    expect(text).toContain('(deny file-read* (subpath "/a\\"b\\\\c"))');
    expect(text).not.toContain('(allow file-write* )');
    const plain = text.replace(/"(?:[^"\\]|\\.)*"/g, '').replace(/^;.*$/gm, '');
    expect(plain.split('(').length).toBe(plain.split(')').length);
  });
});

describe('walls of sandbox-exec', () => {
  test('show a phase its own folders alone, by their real paths, and say what they can’t hold', () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'seatbelt-')));
    try {
      const folders = foldersIn(root);
      for (const one of [folders.workspace, folders.home, folders.temp, folders.skills, folders.tests, folders.logs])
        mkdirSync(one);
      const sandbox = new SandboxExec({ kind: 'none', why: 'none' });
      const view = (phase: SandboxView['phase']): SandboxView => ({
        folders,
        places: sandbox.placesOf(folders),
        phase,
        show: [],
        hide: [tmpdir()],
        readOnly: [],
        network: 'off',
        gateway: { socketPath: '/s', origin: 'http://127.0.0.1:4711', relay: null },
        limits: null,
        cell: null,
      });
      const agent = profileOf(view('agent'));
      expect(agent).toContain(`(deny file-read* (subpath "${root}"))`);
      expect(agent).toContain(`(allow file-read* (subpath "${folders.skills}"))`);
      expect(agent).not.toContain(`subpath "${folders.tests}"`);
      expect(agent).toContain('localhost:4711');
      const verifier = profileOf(view('verifier'));
      expect(verifier).toContain(`(allow file-read* (subpath "${folders.tests}"))`);
      expect(verifier).not.toContain(`(allow file-read* (subpath "${folders.skills}"))`);
      expect(sandbox.placesOf(folders).workspace).toBe(folders.workspace);
      expect(sandbox.gatewayOrigin(view('agent'))).toBe('http://127.0.0.1:4711');
      expect(sandbox.hostPathOf(folders.workspace, view('agent'))).toBe(folders.workspace);
      expect(sandbox.hostPathOf(join(root, '..'), view('agent'))).toBeNull();
      expect(sandbox.gaps.join(' ')).toMatch(/no test of ours has run it on a Mac.*number of processes/);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
