import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWalled } from '../sandbox-fixture.ts';
import { chooseSandbox, type SandboxHost, thisSandboxHost } from './choose.ts';
import { processBound } from './process-bound.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'choose-'));
  writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const host = (more: Partial<SandboxHost> & { readonly files?: Readonly<Record<string, string>> }): SandboxHost => ({
  platform: 'linux',
  path: `relative:${folder}`,
  read: (path) => more.files?.[path] ?? null,
  probe: async () => ({ said: 'bwrap: No permissions to create new namespace' }),
  versionOf: async () => 'bubblewrap 0.8.0\n',
  unshare: async () => '/usr/bin/unshare',
  ...more,
});

describe('which walls there are', () => {
  const missing: readonly (readonly [string, SandboxHost | (() => SandboxHost), RegExp, RegExp])[] = [
    ['no program', host({ path: '/nowhere' }), /not installed/, /apt install bubblewrap/],
    [
      'namespaces switched off',
      () => host({ files: { '/proc/sys/kernel/unprivileged_userns_clone': '0\n' } }),
      /kernel\.unprivileged_userns_clone is 0/,
      /sysctl -w kernel\.unprivileged_userns_clone=1/,
    ],
    [
      'no namespaces left',
      () => host({ files: { '/proc/sys/user/max_user_namespaces': '0\n' } }),
      /user\.max_user_namespaces is 0/,
      /sysctl -w user\.max_user_namespaces/,
    ],
    [
      'AppArmor',
      () => host({ files: { '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' } }),
      /AppArmor.*Ubuntu/,
      /AppArmor profile.*docs\/sandbox\.md/,
    ],
    [
      'a container',
      () => host({ files: { '/.dockerenv': '' } }),
      /in this container: bwrap: No perm/,
      /--security-opt/,
    ],
    ['anything else', () => host({}), /does not work here: bwrap: No permissions/, /./],
    ['another system', host({ platform: 'freebsd' }), /freebsd has no sandbox/, /Linux or macOS/],
  ];
  test.each(missing)('plain folders say why: %s', async (_name, given, what, fix) => {
    const sandbox = await chooseSandbox({ kind: 'auto', host: typeof given === 'function' ? given() : given });
    expect(sandbox).toMatchObject({ kind: 'none', version: 'none', ownPaths: false });
    expect(sandbox.instead?.what).toMatch(what);
    expect(sandbox.instead?.fix).toMatch(fix);
    expect(sandbox.instead?.fix).toContain('--allow-unsandboxed');
  });

  test('plain folders that were asked for need no reason', async () => {
    const sandbox = await chooseSandbox({ kind: 'none', host: host({ probe: async () => null }) });
    expect(sandbox).toMatchObject({ kind: 'none', instead: null });
  });

  test('bubblewrap by its version, tried as it will be used', async () => {
    const tried: boolean[] = [];
    const probe = (works: (closed: boolean) => boolean) => async (program: string, closed: boolean) => {
      expect(program).toBe(join(folder, 'bwrap'));
      tried.push(closed);
      return works(closed) ? null : { said: 'no' };
    };
    const choose = (version: string, works: (closed: boolean) => boolean) =>
      chooseSandbox({ kind: 'auto', host: host({ versionOf: async () => version, probe: probe(works) }) });
    expect(await choose('bubblewrap 0.11.0', () => true)).toMatchObject({
      kind: 'bubblewrap',
      version: 'bubblewrap 0.11.0',
    });
    expect(tried.splice(0)).toEqual([true]);
    const open = await choose('bubblewrap 0.8.0', (closed) => !closed);
    expect(tried.splice(0)).toEqual([true, false]);
    expect(open.gaps.join()).toContain('can’t forbid user namespaces');
    expect((await choose('bubblewrap 0.6.1', () => true)).kind).toBe('bubblewrap');
    expect(tried.splice(0)).toEqual([false]);
  });
});

describeWalled('this machine', () => {
  test('has bubblewrap, and says what it is', async () => {
    const sandbox = await chooseSandbox({ kind: 'auto', host: thisSandboxHost(process.env.PATH ?? '') });
    expect(sandbox.version).toMatch(/^bubblewrap \d+\.\d+/);
    expect(sandbox.ownPaths).toBe(true);
  });

  test('is told from one whose bubblewrap does not work', async () => {
    const sandbox = await chooseSandbox({ kind: 'auto', host: thisSandboxHost(folder) });
    expect(sandbox.kind).toBe('none');
    expect(sandbox.instead?.what).toContain('bubblewrap does not work');
  });
});

describe('by what processes are bounded', () => {
  const machine = {
    platform: 'linux',
    kernel: '6.1.0-28-amd64',
    uid: 1000,
    uidMap: '0 0 4294967295\n',
    pidsParent: () => null,
  };
  const cells = () => '/sys/fs/cgroup/pids';
  test.each([
    ['a user within walls', true, machine, { kind: 'user' }],
    ['a user within walls, with control groups', true, { ...machine, pidsParent: cells }, { kind: 'user' }],
    [
      'root within walls',
      true,
      { ...machine, uid: 0, pidsParent: cells },
      { kind: 'cell', parent: '/sys/fs/cgroup/pids' },
    ],
    [
      'root of a container with users of its own',
      true,
      { ...machine, uid: 0, uidMap: '0 100000 65536\n' },
      { kind: 'user' },
    ],
    [
      'anybody in plain folders, with control groups',
      false,
      { ...machine, pidsParent: cells },
      { kind: 'cell', parent: '/sys/fs/cgroup/pids' },
    ],
  ] as const)('%s', (_name, walls, given, want) => expect(processBound(walls, given)).toEqual(want));
  test.each([
    ['root within walls without control groups', true, { ...machine, uid: 0 }, /root is bound by control groups/],
    ['an old kernel', true, { ...machine, kernel: '5.10.0' }, /Linux 5\.10\.0 counts/],
    ['a user in plain folders', false, machine, /control groups/],
    ['macOS', false, { ...machine, platform: 'darwin' }, /darwin/],
  ] as const)('not at all: %s', (_name, walls, given, why) => {
    const bound = processBound(walls, given);
    expect(bound.kind === 'none' && bound.why).toMatch(why);
  });
});
