import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mountTrouble, withHostAgent } from './agent-mounts.ts';
import { type HarborBench, makeHarborBench } from './bench-fixture.ts';
import { binaryAt } from './binary.ts';
import type { HarborOptions } from './options.ts';

let root = '';
let harbor: HarborBench;
beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'mounts-')));
  harbor = await makeHarborBench({ environment: { type: 'docker' } });
});
afterEach(async () => {
  rmSync(root, { recursive: true, force: true });
  await harbor.close();
});

function program(name: string, text: string): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** A program that prints a version, and says of agents that they can be told not to install. */
const saying = (version: string) => `#!/bin/sh\necho ${version}\n`;
const newHarbor = () => program('harbor', `#!/bin/sh\necho '{"properties": {"skip_install": {}}}'\n`);
const oldHarbor = () => program('old-harbor', `#!/bin/sh\necho '{"properties": {}}'\n`);

const mounting = (agent: string, more: Partial<HarborOptions> = {}) =>
  withHostAgent(
    { ...harbor.options, agent: { name: agent }, program: newHarbor(), ...more },
    `${root}/bin:/usr/bin:/bin`,
  );

describe('an agent’s CLI of this machine', () => {
  test('is mounted where every image looks for programs, and Harbor is told that it is there', async () => {
    const path = program('bin/claude', saying('2.1.0'));
    const { options, findings } = await mounting('claude-code', { agentKwargs: { max_turns: 3 } });
    expect(findings).toEqual([]);
    expect(options.mounts).toEqual([{ source: path, target: '/usr/local/bin/claude' }]);
    expect(options.agentKwargs).toEqual({ max_turns: 3, skip_install: true });
    expect(options.environmentEnv).toEqual({});
    expect(options.mounted).toEqual({ agent: 'claude-code', program: 'claude', version: '2.1.0', needs: null });
  });

  test('goes into a folder of ours where the environment is no image', async () => {
    program('bin/claude', saying('2.1.0'));
    const { options } = await mounting('claude-code', { environment: { importPath: 'mine:Env' } });
    expect(options.mounts).toMatchObject([{ target: '/opt/skillopt/bin/claude' }]);
    expect(options.environmentEnv.PATH).toStartWith('/opt/skillopt/bin:');
  });

  /** A command of a package: a script of Node, for which a shell serves here. */
  function ofNode(name: string, scoped: string): void {
    copyFileSync(realpathSync('/bin/sh'), program('bin/node', ''));
    const cli = program(`lib/node_modules/${scoped}/bin/cli.js`, `#!${root}/bin/node\necho 1.6.0\n`);
    symlinkSync(cli, join(root, 'bin', name));
  }

  test.skipIf(process.platform !== 'linux')(
    'of Node’s goes with its packages and its Node, behind a script',
    async () => {
      ofNode('pi', '@earendil-works/pi-coding-agent');
      const { options, findings } = await mounting('pi');
      expect(findings).toEqual([]);
      const places = new Map(options.mounts.map(({ target, source }) => [target, source]));
      expect(places.get('/opt/skillopt/pi')).toBe(`${root}/lib/node_modules`);
      expect(places.get('/opt/skillopt/node')).toBe(`${root}/bin/node`);
      const script = readFileSync(places.get('/usr/local/bin/pi') ?? '', 'utf8');
      const cli = '/opt/skillopt/pi/@earendil-works/pi-coding-agent/bin/cli.js';
      expect(script).toEndWith(`exec "/opt/skillopt/node" "${cli}" "$@"\n`);
      expect(options.mounted).toMatchObject({
        program: 'pi',
        version: '1.6.0',
        needs: binaryAt(`${root}/bin/node`)?.library,
      });
    },
  );

  test.skipIf(process.platform !== 'linux')(
    'of Node’s that only starts a native program goes as that program',
    async () => {
      ofNode('codex', '@openai/codex');
      const vendor = `lib/node_modules/@openai/codex-${process.platform}-${process.arch}/vendor/any`;
      copyFileSync(realpathSync('/bin/sh'), program(`${vendor}/bin/codex`, ''));
      const { options } = await mounting('codex');
      expect(options.mounts.map(({ target }) => target)).toEqual(['/opt/skillopt/codex', '/usr/local/bin/codex']);
      expect(options.mounts[0]?.source).toBe(join(root, vendor));
      const script = readFileSync(options.mounts[1]?.source ?? '', 'utf8');
      expect(script).toBe('#!/bin/sh\nexec "/opt/skillopt/codex/bin/codex" "$@"\n');
    },
  );

  test.each([
    ['an agent of no CLI', 'terminus-2', {}, /there is no CLI of terminus-2/],
    [
      'an environment in a cloud',
      'claude-code',
      { environment: { type: 'daytona' } },
      /trials on daytona see no folder/,
    ],
    ['one that is not installed', 'codex', {}, /no codex is on PATH/],
    ['one without what it needs', 'opencode', {}, /opencode needs rg/],
  ] as const)('is refused for %s', async (_, agent, more, what) => {
    program('bin/claude', saying('2.1.0'));
    program('bin/opencode', saying('1.0.0'));
    program('bin/rg', saying('1'));
    const { options, findings } = await mounting(agent, more);
    expect(options.mounts).toEqual([]);
    expect(options.mounted).toBeUndefined();
    expect(findings).toMatchObject([
      { level: 'error', what: expect.stringMatching(what), fix: expect.stringMatching(/./) },
    ]);
  });

  test('is refused for a Harbor that would install it all the same', async () => {
    program('bin/claude', saying('2.1.0'));
    const { findings } = await mounting('claude-code', { program: oldHarbor() });
    expect(findings).toMatchObject([{ level: 'error', fix: expect.stringMatching(/uv tool upgrade harbor/) }]);
  });
});

test.each([
  ['2.1.0', null],
  ['2.2.0', 'the image has a claude 2.2.0 of its own before the mounted 2.1.0 on PATH'],
  [null, 'the mounted claude 2.1.0 does not start in this task’s image; it needs one with glibc'],
  ['unknown', 'the mounted claude 2.1.0 does not start in this task’s image; it needs one with glibc'],
] as const)('a trial that saw version %p', (seen, trouble) => {
  const mounted = { agent: 'claude-code', program: 'claude', version: '2.1.0', needs: 'glibc' } as const;
  expect(mountTrouble(mounted, seen)).toBe(trouble);
  expect(mountTrouble(undefined, seen)).toBeNull();
});

test('what a program needs stands in its first bytes', () => {
  const elf = (interpreter: string | null) => {
    const bytes = Buffer.alloc(200);
    bytes.write('\x7fELF\x02\x01', 'latin1');
    bytes.writeBigUInt64LE(64n, 32);
    bytes.writeUInt16LE(56, 54);
    bytes.writeUInt16LE(interpreter === null ? 0 : 1, 56);
    bytes.writeUInt32LE(3, 64);
    bytes.writeBigUInt64LE(120n, 72);
    bytes.writeBigUInt64LE(BigInt(interpreter?.length ?? 0), 96);
    bytes.write(interpreter ?? '', 120, 'latin1');
    const path = join(root, 'elf');
    writeFileSync(path, bytes);
    return path;
  };
  expect(binaryAt(elf('/lib64/ld-linux-x86-64.so.2'))).toEqual({ library: 'glibc' });
  expect(binaryAt(elf('/lib/ld-musl-x86_64.so.1'))).toEqual({ library: 'musl' });
  expect(binaryAt(elf(null))).toEqual({ library: null });
  const text = program('text', '#!/bin/sh\n');
  expect(readFileSync(text).length).toBeLessThan(64);
  expect(binaryAt(text)).toBeNull();
});
