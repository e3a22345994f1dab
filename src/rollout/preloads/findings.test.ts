import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { PreloadBench, skillText } from './preload-fixture.ts';

let bench: PreloadBench;
beforeEach(() => {
  bench = new PreloadBench();
});
afterEach(() => bench.close());

const plain = { agent: { name: 'rehearsal', takesSkill: true, skillMounts: [] } } as const;

describe('before anything is spent', () => {
  test('all that is wrong is told at once, each with where and how to mend it', async () => {
    bench.env.SHORT = 'ab';
    bench.write({ 'a/measured/SKILL.md': skillText('measured') });
    const problems = await bench.problems({
      apt: ['jq', 'ripgrep'],
      npm: ['--global', '../nowhere'],
      pip: ['-r x.txt'],
      env: ['NOT_SET', 'PATH', 'SHORT'],
      skills: ['../a/measured'],
      mcp: {
        s: { command: ['sh'], env: ['ALSO_NOT_SET'] },
        far: { url: 'https://mcp.example.com/x' },
        fetched: { command: ['npx', '-y', '@scope/server'], env: [] },
      },
    });
    expect(problems.map((p) => p.replace(bench.root, ''))).toEqual([
      'preloads.npm: "--global" is an option of npm, and no package -> name the packages themselves',
      'preloads.pip: "-r x.txt" is an option of pip, and no package -> name the packages themselves',
      '/nowhere: the package ../nowhere is not there -> correct its path in preloads.npm, which starts from the session’s directory',
      '../a/measured: the other skill measured has the name of the skill that is measured, and would stand in its place -> take it out of preloads, or give it another name',
      'preloads.apt: no system package is installed on this machine: jq, ripgrep -> install them yourself and name the programs in preloads.commands, where they are looked for',
      'preloads.env: PATH is set by each rollout itself -> take it out',
      'preloads.env: the variable NOT_SET is not set -> export NOT_SET=…, or take it out',
      'preloads.mcp.s: the variable ALSO_NOT_SET is not set -> export ALSO_NOT_SET=…, or take it out',
      'preloads.mcp.far: the MCP server far answers at mcp.example.com, and rollouts have no network -> set "sandbox.network": "on", or take it out',
      'preloads.mcp.fetched: the MCP server fetched is fetched by npx when it starts, and rollouts have no network -> add @scope/server to preloads.npm, and name its own command in preloads.mcp.fetched',
    ]);
    expect(bench.left()).toEqual([]);
  });

  test('with network servers at an address and fetched ones are taken', async () => {
    const mcp = { far: { url: 'https://mcp.example.com/x' }, fetched: { command: ['npx', 'x'], env: [] } };
    expect(await bench.problems({ mcp }, { network: 'on' })).toEqual([]);
  });

  test('an agent that finds no other skills, or takes no servers, is refused', async () => {
    bench.write({ 'a/x/SKILL.md': skillText('x') });
    const problems = await bench.problems({ skills: ['../a/x'], mcp: { s: { command: ['sh'], env: [] } } }, plain);
    expect(problems).toEqual([
      expect.stringContaining('the agent rehearsal looks for no other skills'),
      expect.stringContaining('the agent rehearsal takes no MCP servers'),
    ]);
    const lists = { agent: { ...plain.agent, takesOtherSkills: true } } as const;
    expect(await bench.problems({ skills: ['../a/x'] }, lists)).toEqual([]);
  });

  test('commands are looked for where rollouts look', async () => {
    bench.write({ 'bin/tool*': '#!/bin/sh\n', 'bin/no-program': '' });
    bench.env.PATH = `${bench.root}/bin:${bench.env.PATH}`;
    const problems = await bench.problems(
      {
        commands: ['tool', 'no-program', 'sh', 'surely-not-there'],
        mcp: { s: { command: ['also-not-there', 'x'], env: [] } },
      },
      { taskCommands: ['tool', 'task-not-there'] },
    );
    expect(problems).toEqual([
      expect.stringContaining(
        'preloads.commands: the command no-program is not found by rollouts -> install no-program, or let rollouts see it',
      ),
      expect.stringContaining('preloads.commands: the command surely-not-there is not found'),
      expect.stringContaining('preloads.mcp.s: the program also-not-there of the MCP server s is not found'),
      expect.stringContaining('the tasks: the command task-not-there, which tasks name, is not found'),
    ]);
  });

  test('commands that packages may bring are looked for once they are installed', async () => {
    bench.npmPackage('hello', 'x');
    const wanted = { npm: ['../hello'], commands: ['hello', 'surely-not-there'] };
    expect(await bench.problems(wanted)).toEqual([]);
    const preloading = await bench.look(wanted);
    const work = preloading.install({ onStep: () => {}, signal: new AbortController().signal });
    expect(
      await work.then(
        () => null,
        (e: Error) => e.message,
      ),
    ).toContain('the command surely-not-there is not found by rollouts');
    // and the next time before anything is spent
    expect(await bench.problems(wanted)).toEqual([
      expect.stringContaining('the command surely-not-there is not found'),
    ]);
    const mended = await bench.prepare({ ...wanted, commands: ['hello'] });
    expect(mended.path).toEqual(mended.prepared.path);
  });

  test('what is missing on this machine to install packages is told', async () => {
    bench.env.PATH = '/nowhere';
    expect(await bench.problems({ npm: ['x@1.0.0'], pip: ['x==1.0'] })).toEqual([
      'preloads.npm: node is not on this machine -> install Node.js, which brings npm, or take preloads.npm out',
      expect.stringContaining('preloads.pip: python3 is not on this machine -> install Python 3 with venv'),
    ]);
  });

  test('packages without a version, and values that are not redacted, are warned of', async () => {
    bench.env.SHORT = 'ab';
    bench.env.LONG = 'x-1234567';
    const found = await bench.findings({ npm: ['prettier', 'x@1.0.0'], pip: ['pandas>=2'], env: ['SHORT', 'LONG'] });
    expect(found.map((f) => `${f.level} ${f.what}`)).toEqual([
      'warning the value of SHORT is not redacted, as it is a short or everyday word, or a path of this machine',
      'warning prettier, pandas>=2: no version is named, so the session keeps the one that it finds now, and another session may get another',
    ]);
  });

  test('what will be installed is told, and by whom it is run', async () => {
    const wanted = { npm: ['x@1.0.0'], pip: ['y==1.0', './own'], setup: ['make'] };
    bench.write({ 'my session/own/pyproject.toml': '' });
    const { plan } = await bench.look(wanted);
    expect(plan.map((line) => line.replace(bench.dir, 'DIR'))).toEqual([
      'npm x@1.0.0 · pip y==1.0, ./own: installed once into DIR, over this machine’s network, as you; no script of a package runs',
      'the build of ./own · setup: make: run once, as you, without a sandbox, with network',
    ]);
    expect((await bench.look(wanted, { hasWalls: true })).plan[1]).toContain('in the sandbox, with network');
    expect((await bench.look({ commands: ['sh'] })).plan).toEqual([]);
  });
});
