import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shortHash } from '../../ports/hash.ts';
import { shellWord } from '../../ports/printable.ts';
import { runProcess } from '../../process/run-process.ts';
import { copySource } from './local-source.ts';
import type { Installed, NpmOptions } from './npm.ts';
import { pathBehind } from './prepared.ts';
import { distributionsOf } from './site-packages.ts';
import { normalizedName, shownSpec } from './specs.ts';
import { runStep } from './steps.ts';

/** The Python that a venv is made of. */
export type Python = {
  /** Real path of the interpreter, and the folder that holds its library. */
  readonly executable: string;
  readonly base: string;
  readonly version: string;
  /** The interpreter's own pip serves a venv, too, which is quicker than another one; without it a venv gets its own. */
  readonly hasPip: boolean;
  readonly hasEnsurepip: boolean;
};

const askPython = `import sys, json, importlib.util as u
print(json.dumps({"executable": sys.executable, "base": sys.base_prefix, "version": "%d.%d.%d" % sys.version_info[:3],
"hasEnsurepip": u.find_spec("ensurepip") is not None, "hasPip": u.find_spec("pip") is not None, "hasVenv": u.find_spec("venv") is not None}))`;

/** The `python3` of this machine, if it can make a venv; else what is missing. */
export async function findPython(
  env: Readonly<Record<string, string>>,
): Promise<Python | { readonly missing: string; readonly fix: string }> {
  const end = await runProcess({ command: ['python3', '-I', '-c', askPython], cwd: '/', env, timeoutMs: 60_000 });
  const fix = 'install Python 3 with venv (Debian, Ubuntu: python3-venv), or take preloads.pip out';
  if (end.cause !== 'exited' || end.exitCode !== 0) {
    return { missing: end.cause === 'not-started' ? 'python3 is not on this machine' : 'python3 does not run', fix };
  }
  try {
    const found = JSON.parse(end.stdout) as Python & { readonly hasVenv: boolean };
    if (!found.hasVenv) return { missing: 'python3 has no module venv', fix };
    if (!found.hasEnsurepip && !found.hasPip) return { missing: 'python3 has neither ensurepip nor pip', fix };
    return found;
  } catch {
    return { missing: 'python3 does not say what it is', fix };
  }
}

/** The version of a Python by its path; null = it does not run any more. */
export async function versionOfPython(executable: string): Promise<string | null> {
  const command = [executable, '-I', '-c', 'import platform; print(platform.python_version())'] as const;
  const end = await runProcess({ command, cwd: '/', env: {}, timeoutMs: 60_000 });
  return end.exitCode === 0 ? end.stdout.trim() : null;
}

/** `3.11.7` → `3.11`. */
export function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

/** What installs them beside what every installation needs. */
export type PipOptions = NpmOptions & {
  /** Variables that the config names: what runs code of its own is given these alone. */
  readonly namedEnv: Readonly<Record<string, string>>;
  /** What builds see beside the system and the prefix: the interpreter. */
  readonly show: readonly string[];
};

/**
 * Installs Python packages into a venv below the prefix, which also sees the packages of the interpreter itself: nothing
 * that a task had before is taken away. Of an index only wheels are taken, which run nothing; what lies on this machine or
 * at an address and is no wheel is built within the walls. With a lock that was kept the same versions come again.
 */
export async function installPip(python: Python, o: PipOptions): Promise<Installed> {
  const { specs, copies, places, runner } = o;
  const env = hostPipEnvironment(o.hostEnv);
  const cwd = places.prefix;
  mkdirSync(cwd, { recursive: true });
  const flags = ['--system-site-packages', ...(python.hasPip ? ['--without-pip'] : [])];
  await runStep(
    {
      name: `pip: an environment of Python ${python.version}`,
      command: [python.executable, '-I', '-m', 'venv', ...flags, places.python],
      cwd,
      env,
      within: null,
      fix: () => 'install Python 3 with venv (Debian, Ubuntu: python3-venv)',
    },
    runner,
  );
  if (python.hasPip) writePip(places.pythonBin);
  // A build writes beside the files that it builds. All are copied before the first one runs, which may put links in the way.
  const built = specs
    .filter((s) => s.runsItsOwn)
    .map((spec, at) => {
      const copy = copies.get(spec.text);
      return { spec, source: copy === undefined ? spec.text : copySource(copy, join(places.scratch, `source-${at}`)) };
    });
  const pip = [join(places.pythonBin, 'python'), '-I', '-m', 'pip'] as const;
  const lock = existsSync(places.pipLock) ? linesOf(readFileSync(places.pipLock, 'utf8')) : null;
  const wheels = specs.filter((s) => !s.runsItsOwn && (lock === null || s.from !== 'index'));
  const fetched = [...(lock ?? []), ...wheels.map((s) => copies.get(s.text) ?? s.text)];
  const alone = lock === null ? [] : ['--no-deps'];
  if (fetched.length > 0)
    await runStep(
      {
        name: `pip: ${specs
          .filter((s) => !s.runsItsOwn)
          .map((s) => s.text)
          .join(', ')}`,
        command: [
          ...pip,
          'install',
          ...quiet,
          '--ignore-installed',
          '--only-binary',
          ':all:',
          ...alone,
          '--',
          ...fetched,
        ],
        cwd,
        env,
        within: null,
        fix: (output) => `${whatToMend(output)}; the same command installs them anew`,
      },
      runner,
    );
  for (const { spec, source } of built) {
    await runStep(
      {
        name: `pip: ${spec.text}`,
        command: [...pip, 'install', ...quiet, ...alone, '--', source],
        cwd,
        env: { ...o.namedEnv, PATH: pathBehind([places.pythonBin], o.hostEnv.PATH) },
        within: { writable: places.prefix, show: o.show },
        fix: () =>
          `mend what its build says, or take ${shownSpec(spec)} out of preloads.pip; the same command installs it anew`,
      },
      runner,
    );
  }
  const found = distributionsOf(places.python).filter(({ name }) => python.hasPip || !ownOfVenv.has(name));
  const frozen = found.flatMap((d) => (d.fromIndex ? [`${d.name}==${d.version}`] : []));
  if (lock === null) writeFileSync(places.pipLock, frozen.map((line) => `${line}\n`).join(''));
  const named = specs.flatMap(({ name }) => {
    const own = found.find((d) => name !== null && normalizedName(d.name) === normalizedName(name));
    return own === undefined ? [] : [[`pip ${own.name}`, own.version] as const];
  });
  return { versions: { ...Object.fromEntries(named), 'pip packages': shortHash(frozen.join('\n')) }, notes: [] };
}

/** What a venv with a pip of its own begins with. */
const ownOfVenv: ReadonlySet<string> = new Set(['pip', 'setuptools']);

const linesOf = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

/** The interpreter's pip as a command of the venv. */
function writePip(venvBin: string): void {
  const script = `#!/bin/sh\nexec ${shellWord(join(venvBin, 'python'))} -m pip "$@"\n`;
  for (const name of ['pip', 'pip3']) writeFileSync(join(venvBin, name), script, { mode: 0o755 });
}

const quiet = ['--no-input', '--disable-pip-version-check', '--no-cache-dir', '--no-warn-script-location'];

/** What a variable of the user's could turn into another kind of installation. */
const pipModes =
  /^(?:PIP_(?:USER|TARGET|PREFIX|ROOT|DRY_RUN|NO_BINARY|ONLY_BINARY|REQUIRE_VIRTUALENV|PYTHON|EDITABLE|REQUIREMENT|NO_DEPS)|PYTHONHOME|PYTHONPATH|VIRTUAL_ENV|__PYVENV_LAUNCHER__)$/;

function hostPipEnvironment(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => !pipModes.test(name))), PIP_USER: '0' };
}

function whatToMend(output: string): string {
  if (/NewConnectionError|NameResolutionError|Connection refused|ReadTimeout|ConnectTimeout/i.test(output))
    return 'see that this machine reaches the index';
  if (/No matching distribution|Could not find a version/i.test(output))
    return 'correct name and version in preloads.pip; a package that has no wheel for this Python is built by a line "pip install NAME" in preloads.setup, within the walls';
  if (/No space left/i.test(output)) return 'free some space';
  return 'mend what pip names, or take the package out of preloads.pip';
}
