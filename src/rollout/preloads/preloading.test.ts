import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkilloptError } from '../../ports/failure.ts';
import { PreloadBench, skillText } from './preload-fixture.ts';

let bench: PreloadBench;
beforeEach(() => {
  bench = new PreloadBench();
});
afterEach(() => bench.close());

async function failureOf(work: Promise<unknown>) {
  try {
    await work;
  } catch (e) {
    if (e instanceof SkilloptError) return e.failure;
    throw e;
  }
  throw new Error('nothing failed');
}

describe('npm packages', () => {
  test('of this machine are installed once, with their commands on PATH, and the source is not touched', async () => {
    bench.npmPackage('hello', 'from npm');
    const before = bench.read('hello/package.json');
    const first = await bench.prepare({ npm: ['../hello'] });
    expect(await bench.sh(first, 'hello')).toBe('from npm');
    expect(bench.said).toEqual(['npm: ../hello']);
    expect(first.prepared.versions).toMatchObject({ 'npm hello': '1.0.0', node: expect.any(String) });
    expect(bench.read('hello/package.json')).toBe(before);
    expect(existsSync(join(bench.root, 'hello/node_modules'))).toBe(false);

    const again = await bench.prepare({ npm: ['../hello'] }, { isNew: false });
    expect(bench.said).toHaveLength(1);
    expect(again.plan).toEqual([]);
    expect(again.prepared.versions).toEqual(first.prepared.versions);
    expect(await bench.sh(again, 'hello')).toBe('from npm');
  });

  test('of this machine that were changed are told in a session that has begun, and taken anew in one that has not', async () => {
    bench.npmPackage('hello', 'old');
    await bench.prepare({ npm: ['../hello'] });
    bench.npmPackage('hello', 'new', '2.0.0');
    const begun = await bench.prepare({ npm: ['../hello'] }, { isNew: false });
    expect(await bench.sh(begun, 'hello')).toBe('old');
    const told = (await begun.preflight()).filter((f) => f.level === 'warning').map((f) => f.what);
    expect(told).toEqual(['the package hello was changed since the session began with it']);
    const anew = await bench.prepare({ npm: ['../hello'] });
    expect(await bench.sh(anew, 'hello')).toBe('new');
    expect(anew.prepared.versions['npm hello']).toBe('2.0.0');
    expect(anew.prepared.versions['package hello']).not.toBe(begun.prepared.versions['package hello']);
  });

  test('run none of their scripts', async () => {
    bench.write({
      'evil/package.json': JSON.stringify({
        name: 'evil',
        version: '1.0.0',
        scripts: {
          preinstall: `touch ${bench.root}/ran`,
          postinstall: `touch ${bench.root}/ran`,
          prepare: `touch ${bench.root}/ran`,
          prepack: `touch ${bench.root}/ran`,
        },
      }),
    });
    const preloading = await bench.look({ npm: ['../evil'] });
    const notes = await preloading.install({ onStep: () => {}, signal: new AbortController().signal });
    expect(existsSync(join(bench.root, 'ran'))).toBe(false);
    expect(notes.join('\n')).toContain('install scripts of evil were not run');
  });

  test('show nothing of what they need themselves on PATH', async () => {
    bench.npmPackage('inner', 'from inside');
    bench.write({
      'outer/package.json': JSON.stringify({
        name: 'outer',
        version: '1.0.0',
        bin: 'o.js',
        dependencies: { inner: `file:${bench.root}/inner` },
      }),
      'outer/o.js*': '#!/usr/bin/env node\nconsole.log("outer")\n',
    });
    const preloading = await bench.prepare({ npm: ['../outer'] });
    expect(await bench.sh(preloading, 'outer; inner')).toMatch(/^outer\n.*not found/);
  });

  test('that do not exist say which step, its last lines and the fix; nothing half is left', async () => {
    const preloading = await bench.look({ npm: ['./gone-1.0.0.tgz'] });
    expect((await preloading.preflight()).map((f) => f.what)).toContain('the package ./gone-1.0.0.tgz is not there');
    bench.write({ 'my session/broken-1.0.0.tgz': 'no archive' });
    const failure = await failureOf(bench.prepare({ npm: ['./broken-1.0.0.tgz'] }));
    expect(failure).toMatchObject({
      code: 'preflight',
      what: expect.stringMatching(/npm: \.\/broken-1\.0\.0\.tgz ended with exit code/),
    });
    expect(failure.where).toContain(join(bench.dir, 'build.log'));
    expect(failure.where).toMatch(/\n {2}npm error/);
    expect(failure.fix).toContain('preloads.npm');
    expect(bench.left()).toEqual(['build.log']);
  });
});

describe('Python packages', () => {
  test('are installed once, beside what Python has itself', async () => {
    const wheel = await bench.wheel('greet', 'from pip');
    const first = await bench.prepare({ pip: [`../${wheel}`] });
    expect(await bench.sh(first, 'greet && python3 -c "import greet; print(greet.word)"')).toBe('from pip\nfrom pip');
    expect(await bench.sh(first, 'python3 -c "import sys; print(sys.prefix)"')).toBe(
      first.prepared.path[1]?.replace(/\/bin$/, '') ?? '',
    );
    expect(first.prepared.versions).toMatchObject({
      [`package ${wheel}`]: expect.any(String),
      python: expect.stringMatching(/^3\.\d+\.\d+$/),
    });
    await bench.prepare({ pip: [`../${wheel}`] }, { isNew: false });
    expect(bench.said.filter((s) => s.startsWith('pip'))).toHaveLength(2); // the venv and the wheel, once
  });

  test('that have no wheel and lie on this machine are built within the walls, from a copy', async () => {
    bench.write({
      'own/pyproject.toml':
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "own"\nversion = "1.5"\n',
      'own/backend.py': ownBackend,
    });
    const walled: (readonly string[])[] = [];
    const options = bench.options({ pip: ['../own'] });
    const watched = {
      ...options,
      walled: async (c: Parameters<typeof options.walled>[0]) => {
        walled.push(c.command);
        return options.walled(c);
      },
    };
    const preloading = await bench.prepare({ pip: ['../own'] }, watched);
    expect(walled.map((c) => c.includes('install'))).toEqual([true]);
    expect(await bench.sh(preloading, 'python3 -c "import own; print(own.word)"')).toBe('built');
    expect(existsSync(join(bench.root, 'own/made-here'))).toBe(false);
    expect(existsSync(join(bench.root, 'own/build'))).toBe(false);
  });
});

describe('what packages bring never runs outside of the walls', () => {
  test('a wheel that puts itself among Python’s start-up files', async () => {
    const wheel = await bench.wheel('greet', 'from pip', '1.0', {
      'evil.pth': `import os; open(${JSON.stringify(`${bench.root}/ran`)}, "w")\n`,
    });
    const wanted = { pip: [`../${wheel}`] };
    const { prepared } = await bench.prepare(wanted);
    expect(prepared.versions['package greet-1.0-py3-none-any.whl']).toBeString();
    await bench.prepare(wanted, { isNew: false });
    expect(existsSync(join(bench.root, 'ran'))).toBe(false);
    await bench.sh(await bench.prepare(wanted, { isNew: false }), 'python3 -c ""');
    expect(existsSync(join(bench.root, 'ran'))).toBe(true); // it would have
  });

  test('a setup that puts a program in the place of Python, and links in the way', async () => {
    const wheel = await bench.wheel('greet', 'from pip');
    const program = `#!/bin/sh\ntouch ${bench.root}/ran\n`;
    bench.write({ 'beside/file': 'mine' });
    const setup = [
      `printf '${program.replaceAll('\n', '\\n')}' > program; chmod +x program; for at in python python3 pip; do ln -sf "$PREFIX/program" python/bin/$at; done`,
      `rm -rf .making; ln -s ${bench.root}/beside .making; rm -rf python/lib; ln -s ${bench.root}/beside python/lib`,
    ];
    const wanted = { pip: [`../${wheel}`], setup };
    await bench.prepare(wanted);
    await bench.prepare(wanted, { isNew: false });
    expect(existsSync(join(bench.root, 'ran'))).toBe(false);
    expect(bench.read('beside/file')).toBe('mine');
  });
});

describe('setup', () => {
  test('runs once in the prefix, sees packages and named variables, and puts commands on PATH', async () => {
    bench.npmPackage('hello', 'from npm');
    bench.env.SETUP_WORD = 'spoken';
    const setup = [
      'hello > said.txt && printf "#!/bin/sh\\ncat \\"$PREFIX/said.txt\\"; echo $SETUP_WORD" > "$PREFIX/bin/say" && chmod +x bin/say',
      'test "$PWD" = "$PREFIX"',
    ];
    const first = await bench.prepare({ npm: ['../hello'], setup, env: ['SETUP_WORD'] });
    expect(await bench.sh(first, `PREFIX='${first.prepared.show[0]}' say`)).toBe('from npm\nspoken');
    await bench.prepare({ npm: ['../hello'], setup, env: ['SETUP_WORD'] }, { isNew: false });
    expect(bench.said.filter((s) => s.startsWith('setup'))).toHaveLength(2);
  });

  test('that fails is told by its line, without secrets, and leaves nothing half', async () => {
    bench.env.MY_VALUE = 'very-secret-1';
    bench.secrets = ['very-secret-1'];
    const failure = await failureOf(
      bench.prepare({ setup: ['touch bin/half', 'echo about $MY_VALUE; exit 3'], env: ['MY_VALUE'] }),
    );
    expect(failure.what).toBe(
      'preloads could not be installed: setup 2: echo about $MY_VALUE; exit 3 ended with exit code 3',
    );
    expect(failure.where).toContain('about [redacted]');
    expect(failure.fix).toContain('preloads.setup');
    expect(bench.left()).toEqual(['build.log']);
    expect(readFileSync(join(bench.dir, 'build.log'), 'utf8')).not.toContain('very-secret-1');
  });

  test('that is stopped leaves nothing half', async () => {
    const stop = new AbortController();
    const preloading = await bench.look({ setup: ['touch bin/half; kill -0 $$; sleep 600'] });
    const failure = await failureOf(
      preloading.install({ onStep: () => setTimeout(() => stop.abort(), 50), signal: stop.signal }),
    );
    expect(failure.code).toBe('interrupted');
    expect(bench.left()).toEqual(['build.log']);
  });

  test('that locks its own folders leaves nothing half either', async () => {
    const failure = await failureOf(bench.prepare({ setup: ['mkdir -p deep/er && chmod 000 deep/er deep; exit 1'] }));
    expect(failure.code).toBe('preflight');
    expect(bench.left()).toEqual(['build.log']);
  });
});

describe('what was installed', () => {
  test('is made again with the same versions when it was changed, is gone or the session was moved', async () => {
    bench.npmPackage('hello', 'old');
    const wheel = await bench.wheel('greet', 'from pip');
    const wanted = { npm: ['../hello'], pip: [`../${wheel}`], setup: ['echo made > bin/made'] };
    const { prepared } = await bench.prepare(wanted);
    const prefix = prepared.show[0] ?? '';
    bench.npmPackage('hello', 'new', '2.0.0');

    for (const [what, harm] of [
      ['changed', () => writeFileSync(join(prefix, 'bin/made'), 'else')],
      ['gone', () => rmSync(prefix, { recursive: true })],
    ] as const) {
      harm();
      const again = await bench.look(wanted, { isNew: false });
      expect(again.plan.join('\n')).toContain(`what was installed ${what === 'gone' ? 'is gone' : 'was changed'}`);
      await again.install({ onStep: () => {}, signal: new AbortController().signal });
      expect(again.prepared.versions).toEqual(prepared.versions);
      expect(await bench.sh(again, 'hello; greet')).toBe('old\nfrom pip');
    }

    const moved = join(bench.root, 'moved');
    renameSync(bench.base, moved);
    const there = { isNew: false, base: moved, dir: join(moved, '.skillopt/preloads') };
    const again = await bench.prepare(wanted, there);
    expect(again.prepared.versions).toEqual(prepared.versions);
    expect(await bench.sh(again, 'hello; greet')).toBe('old\nfrom pip');
    expect(again.prepared.show[0]).toBe(join(moved, '.skillopt/preloads', prefix.split('/').at(-1) ?? ''));
  });

  test('tells when something changes it while rollouts run; what Python caches does not count', async () => {
    const { prepared } = await bench.prepare({ setup: ['mkdir -p lib && echo x > lib/x'] });
    expect(prepared.changed()).toBeNull();
    bench.write({ [`${prepared.show[0]?.slice(bench.root.length + 1)}/lib/__pycache__/x.pyc`]: 'cache' });
    expect(prepared.changed()).toBeNull();
    writeFileSync(join(prepared.show[0] ?? '', 'lib/more'), '');
    expect(prepared.changed()).toContain('was changed');
  });

  test('is lent to another directory that wants the same, and made there where it does not stand any more', async () => {
    bench.npmPackage('hello', 'old');
    const wanted = { npm: ['../hello'] };
    const { prepared } = await bench.prepare(wanted);
    bench.npmPackage('hello', 'new', '2.0.0');
    const there = { dir: join(bench.root, 'eval/preloads'), lender: bench.dir };
    const lent = await bench.prepare(wanted, there);
    expect(lent.prepared.show).toEqual(prepared.show);
    rmSync(prepared.show[0] ?? '', { recursive: true });
    const own = await bench.prepare(wanted, there);
    expect(own.prepared.show[0]).toContain(join(bench.root, 'eval/preloads'));
    expect(own.prepared.versions).toEqual(prepared.versions);
    expect(await bench.sh(own, 'hello')).toBe('old');
  });

  test('is found missing when a process was killed on the way: the next one begins it anew', async () => {
    bench.npmPackage('hello', 'from npm');
    const { prepared } = await bench.prepare({ npm: ['../hello'] });
    rmSync(join(bench.dir, 'ready.json'));
    writeFileSync(join(prepared.show[0] ?? '', 'half'), '');
    const again = await bench.prepare({ npm: ['../hello'] }, { isNew: false });
    expect(existsSync(join(again.prepared.show[0] ?? '', 'half'))).toBe(false);
    expect(await bench.sh(again, 'hello')).toBe('from npm');
  });
});

describe('other skills', () => {
  test('are copied, and stay what they were', async () => {
    bench.write({ 'others/writer/SKILL.md': skillText('writer'), 'others/writer/scripts/go.sh*': 'echo go\n' });
    const first = await bench.prepare({ skills: ['../others/writer'] });
    const [skill] = first.prepared.otherSkills;
    expect(skill).toMatchObject({ name: 'writer', description: 'Use it for writer.' });
    expect(readFileSync(join(skill?.dir ?? '', 'scripts/go.sh'), 'utf8')).toBe('echo go\n');
    expect(first.prepared.show).toEqual([]);
    expect(Object.keys(first.prepared.versions)).toEqual(['skill writer']);

    bench.write({ 'others/writer/SKILL.md': skillText('writer', 'Otherwise.') });
    const begun = await bench.prepare({ skills: ['../others/writer'] }, { isNew: false });
    expect(begun.prepared.versions).toEqual(first.prepared.versions);
    expect((await begun.preflight()).map((f) => f.what)).toEqual([
      'the other skill writer was changed since the session began with it',
    ]);
    rmSync(join(bench.root, 'others'), { recursive: true });
    const gone = await bench.prepare({ skills: ['../others/writer'] }, { isNew: false });
    expect((await gone.preflight()).map((f) => f.what)).toEqual([
      'the other skill writer is gone since the session began with it',
    ]);
  });

  test('whose copy was changed are refused', async () => {
    bench.write({ 'others/writer/SKILL.md': skillText('writer') });
    const { prepared } = await bench.prepare({ skills: ['../others/writer'] });
    writeFileSync(join(prepared.otherSkills[0]?.dir ?? '', 'SKILL.md'), skillText('writer', 'Slyly.'));
    const failure = await failureOf(bench.look({ skills: ['../others/writer'] }, { isNew: false }));
    expect(failure).toMatchObject({
      code: 'session-mismatch',
      what: 'the session’s copy of the other skill writer was changed',
    });
  });

  test('may not have the name of the measured skill, nor of each other', async () => {
    bench.write({
      'a/measured/SKILL.md': skillText('measured'),
      'a/x/SKILL.md': skillText('x'),
      'b/x/SKILL.md': skillText('x'),
    });
    const problems = await bench.problems({ skills: ['../a/measured', '../a/x', '../b/x'] });
    expect(problems).toEqual([
      expect.stringContaining('the other skill measured has the name of the skill that is measured'),
      expect.stringContaining('two other skills are called x: ../a/x and ../b/x'),
    ]);
  });

  test('that are no skills are told with their line', async () => {
    bench.write({ 'a/x/SKILL.md': 'no frontmatter\n' });
    expect((await bench.problems({ skills: ['../a/x'] }))[0]).toMatch(/SKILL\.md:1: /);
  });
});

const ownBackend = `import pathlib, zipfile
def build_wheel(folder, settings=None, metadata=None):
    pathlib.Path("made-here").write_text("by the build")
    files = {"own.py": "word = 'built'", "own-1.5.dist-info/METADATA": "Metadata-Version: 2.1\\nName: own\\nVersion: 1.5\\n",
      "own-1.5.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n", "own-1.5.dist-info/RECORD": ""}
    with zipfile.ZipFile(f"{folder}/own-1.5-py3-none-any.whl", "w") as z:
        for name, text in files.items(): z.writestr(name, text)
    return "own-1.5-py3-none-any.whl"
`;
