import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { hostEnvironment } from '../../config/environment.ts';
import { type Preloads, preloadsConfig } from '../../config/preloads.ts';
import { shortHash } from '../../ports/hash.ts';
import type { Finding } from '../../ports/preflight.ts';
import { runProcess } from '../../process/run-process.ts';
import { readSkill } from '../../skill/document.ts';
import { copyTree } from '../copy-tree.ts';
import type { PreloadOptions, SkillSources } from './options.ts';
import { Preloading } from './preloading.ts';
import type { Walled } from './steps.ts';

/** A session's preloads in a place of their own: a home, a folder of the user's, a session; no walls around what runs. */
export class PreloadBench {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'preloads-')));
  readonly home = join(this.root, 'home');
  readonly base = join(this.root, 'my session');
  readonly dir = join(this.base, '.skillopt', 'preloads');
  readonly said: string[] = [];
  env: Record<string, string> = { ...hostEnvironment(), HOME: this.home };
  secrets: string[] = [];

  constructor() {
    for (const folder of [this.home, this.base]) mkdirSync(folder, { recursive: true });
  }

  /** Writes files below the root; a path that ends in `*` is executable. */
  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.root, name.replace(/\*$/, ''));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      if (name.endsWith('*')) chmodSync(path, 0o755);
    }
  }

  /** An npm package of the user's with one command, which prints the word. */
  npmPackage(name: string, word: string, version = '1.0.0'): void {
    this.write({
      [`${name}/package.json`]: JSON.stringify({ name, version, bin: { [name]: 'cli.js' } }),
      [`${name}/cli.js*`]: `#!/usr/bin/env node\nconsole.log(${JSON.stringify(word)});\n`,
    });
  }

  /** A wheel of the user's: a module of its name with `word`, a command that prints it, and further files. Its path. */
  async wheel(
    name: string,
    word: string,
    version = '1.0',
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const file = `${name}-${version}-py3-none-any.whl`;
    this.write({ 'make-wheel.py': wheelMaker });
    const end = await runProcess({
      command: [
        'python3',
        join(this.root, 'make-wheel.py'),
        join(this.root, file),
        name,
        version,
        word,
        JSON.stringify(more),
      ],
      cwd: this.root,
      env: this.env,
      timeoutMs: 60_000,
    });
    if (end.exitCode !== 0) throw new Error(end.stderr);
    return file;
  }

  options(wanted: Partial<Preloads>, more: Partial<PreloadOptions> = {}): PreloadOptions {
    return {
      wanted: preloadsConfig.parse(wanted),
      agent: {
        name: 'claude-code',
        takesSkill: true,
        skillMounts: [{ base: 'workspace', path: '.claude/skills' }],
        takesMcp: true,
      },
      measured: ['measured'],
      base: this.base,
      dir: this.dir,
      lender: null,
      isNew: true,
      show: [],
      network: 'off',
      taskCommands: [],
      hostEnv: this.env,
      hostHome: this.home,
      skills: this.skills,
      redact: async (text) => this.secrets.reduce((t, secret) => t.replaceAll(secret, '[redacted]'), text),
      walled: this.walled,
      hasWalls: false,
      sweep: async () => [],
      mark: { name: 'SKILLOPT_ROLLOUT', match: 'exact', value: `${shortHash(this.root)}/preloads` },
      ...more,
    };
  }

  look(wanted: Partial<Preloads>, more: Partial<PreloadOptions> = {}): Promise<Preloading> {
    return Preloading.look(this.options(wanted, more));
  }

  /** Looks, refuses what preflight refuses, and installs. */
  async prepare(wanted: Partial<Preloads>, more: Partial<PreloadOptions> = {}): Promise<Preloading> {
    const preloading = await this.look(wanted, more);
    const errors = (await preloading.preflight()).filter((f) => f.level === 'error');
    if (errors.length > 0) throw new Error(`preflight: ${errors.map((f) => f.what).join('; ')}`);
    await preloading.install({ onStep: (name) => this.said.push(name), signal: new AbortController().signal });
    return preloading;
  }

  async findings(wanted: Partial<Preloads>, more: Partial<PreloadOptions> = {}): Promise<readonly Finding[]> {
    return (await this.look(wanted, more)).preflight();
  }

  /** What is wrong, one line each: `where: what -> fix`. */
  async problems(wanted: Partial<Preloads>, more: Partial<PreloadOptions> = {}): Promise<readonly string[]> {
    const found = await this.findings(wanted, more);
    return found.filter((f) => f.level === 'error').map((f) => `${f.where}: ${f.what} -> ${f.fix}`);
  }

  /** What a line of sh prints with what was prepared. */
  async sh(preloading: Preloading, line: string): Promise<string> {
    const { path, env } = preloading.prepared;
    const end = await runProcess({
      command: ['sh', '-c', line],
      cwd: this.root,
      env: { ...env, HOME: this.home, PATH: [...path, this.env.PATH].join(':') },
      timeoutMs: 60_000,
      mergeStderr: true,
    });
    return end.stdout.trim();
  }

  /** What lies in the session's folder of preloads. */
  left(): readonly string[] {
    return existsSync(this.dir) ? readdirSync(this.dir).sort() : [];
  }

  read(name: string): string {
    return readFileSync(join(this.root, name), 'utf8');
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  private get skills(): SkillSources {
    const folderOf = (given: string) => resolve(this.base, given.replace(/\/SKILL\.md$/, ''));
    const hashOf = async (folder: string) =>
      shortHash(
        readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
          .filter((e) => e.isFile())
          .map(
            (e) =>
              `${join(e.parentPath, e.name).slice(folder.length)}\0${readFileSync(join(e.parentPath, e.name), 'utf8')}`,
          )
          .sort()
          .join('\n'),
      );
    const look: SkillSources['look'] = async (given) => {
      const folder = folderOf(given);
      const path = join(folder, 'SKILL.md');
      const { name, description } = readSkill(readFileSync(path, 'utf8'), path);
      return {
        name,
        description,
        hash: await hashOf(folder),
        oddities: name === basename(folder) ? [] : ['its folder has another name'],
      };
    };
    return { look, hashOf, copy: async (given, to) => copyTree(folderOf(given), join(to, (await look(given)).name)) };
  }

  private readonly walled: Walled = async ({ command, cwd, env, timeoutMs, signal }) => {
    const scratch = mkdtempSync(join(this.root, 'scratch-'));
    try {
      return await runProcess({
        command,
        cwd,
        env: { ...env, HOME: scratch, TMPDIR: scratch },
        timeoutMs,
        signal,
        mergeStderr: true,
      });
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  };
}

export const skillText = (name: string, body = 'Do it well.') =>
  `---\nname: ${name}\ndescription: Use it for ${name}.\n---\n# ${name}\n\n${body}\n`;

const wheelMaker = `import json, sys, zipfile
path, name, version, word, more = sys.argv[1:]
info = f"{name}-{version}.dist-info"
files = {
  f"{name}.py": f"word = {word!r}\\ndef main():\\n    print(word)\\n",
  f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n",
  f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
  f"{info}/entry_points.txt": f"[console_scripts]\\n{name} = {name}:main\\n",
}
files.update(json.loads(more))
files[f"{info}/RECORD"] = "".join(f"{f},,\\n" for f in [*files, f"{info}/RECORD"])
with zipfile.ZipFile(path, "w") as z:
    for f, text in files.items(): z.writestr(f, text)
`;
