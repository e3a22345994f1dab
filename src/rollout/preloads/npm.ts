import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { shortHash } from '../../ports/hash.ts';
import type { PreloadPlaces } from './record.ts';
import type { Spec } from './specs.ts';
import { runStep, type StepRunner } from './steps.ts';

/** What came of it. */
export type Installed = {
  readonly versions: Readonly<Record<string, string>>;
  /** What people should know of it, one line each. */
  readonly notes: readonly string[];
};

export type NpmOptions = {
  readonly specs: readonly Spec[];
  /** Packages of this machine where they were copied to, by their text. */
  readonly copies: ReadonlyMap<string, string>;
  readonly places: PreloadPlaces;
  readonly runner: StepRunner;
  /** This user's own environment: registries, proxies and credentials are set there. */
  readonly hostEnv: Readonly<Record<string, string>>;
};

/**
 * Installs npm packages below the prefix. No script of a package runs: it is downloaded and unpacked. With a lock that
 * was kept the same versions come again.
 */
export async function installNpm({ specs, copies, places, runner, hostEnv }: NpmOptions): Promise<Installed> {
  const { npm, npmLock } = places;
  mkdirSync(npm, { recursive: true });
  const again = existsSync(join(npmLock, 'package-lock.json'));
  if (again) cpSync(npmLock, npm, { recursive: true });
  else
    writeFileSync(
      join(npm, 'package.json'),
      `${JSON.stringify({ name: 'preloads', version: '0.0.0', private: true }, null, 2)}\n`,
    );
  const named = specs.map((spec) => {
    const copy = copies.get(spec.text);
    return copy === undefined ? spec.text : `file:${relative(npm, copy)}`;
  });
  await runStep(
    {
      name: `npm: ${specs.map((s) => s.text).join(', ')}`,
      command: ['npm', again ? 'ci' : 'install', ...options(places), ...(again ? [] : ['--', ...named])],
      cwd: npm,
      env: quietEnvironment(hostEnv),
      within: null,
      fix: (output) => `${whatToMend(output)}; the same command installs them anew`,
    },
    runner,
  );
  const lock = readLock(join(npm, 'package-lock.json'));
  if (!again) {
    mkdirSync(npmLock, { recursive: true });
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(npm, file), join(npmLock, file));
  }
  for (const { name } of lock.wanted) linkCommands(name, places);
  const versions = Object.fromEntries(lock.wanted.map(({ name, version }) => [`npm ${name}`, version]));
  return {
    versions: { ...versions, 'npm packages': lock.identity },
    notes: lock.withScripts.length === 0 ? [] : [scriptsNote(lock.withScripts)],
  };
}

const options = ({ npm, scratch }: PreloadPlaces) => [
  '--prefix',
  npm,
  '--ignore-scripts',
  '--install-links',
  '--package-lock',
  '--no-audit',
  '--no-fund',
  '--no-progress',
  '--no-update-notifier',
  '--loglevel',
  'error',
  '--cache',
  join(scratch, 'npm'),
];

/** What a variable of the user's could turn into another kind of installation. */
const npmModes =
  /^npm_config_(?:global|location|prefix|local_prefix|dry_run|package_lock_only|workspaces?|omit|production)$/i;

function quietEnvironment(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !npmModes.test(name) && name !== 'NODE_OPTIONS'));
}

function whatToMend(output: string): string {
  if (/\bE404\b|ETARGET|ENOVERSIONS|404 Not Found/i.test(output)) return 'correct name and version in preloads.npm';
  if (/ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|network/i.test(output))
    return 'see that this machine reaches the registry';
  if (/E401|E403|ENEEDAUTH/i.test(output)) return 'log in to the registry (npm login)';
  if (/ENOSPC/.test(output)) return 'free some space';
  return 'mend what npm names, or take the package out of preloads.npm';
}

type Lock = {
  readonly wanted: readonly { readonly name: string; readonly version: string }[];
  /** Hash over every package with its version and the digest of its files. */
  readonly identity: string;
  readonly withScripts: readonly string[];
};

type LockFile = {
  readonly packages?: Readonly<
    Record<
      string,
      {
        readonly version?: string;
        readonly integrity?: string;
        readonly hasInstallScript?: boolean;
        readonly dependencies?: object;
      }
    >
  >;
};

function readLock(path: string): Lock {
  const { packages = {} } = JSON.parse(readFileSync(path, 'utf8')) as LockFile;
  const names = Object.keys(packages['']?.dependencies ?? {}).sort();
  const all = Object.entries(packages).filter(([place]) => place !== '');
  const told = all.map(([place, { version = '', integrity = '' }]) => `${place}@${version} ${integrity}`).sort();
  return {
    wanted: names.map((name) => ({ name, version: packages[`node_modules/${name}`]?.version ?? 'unknown' })),
    identity: shortHash(told.join('\n')),
    withScripts: all
      .filter(([, p]) => p.hasInstallScript === true)
      .map(([place]) => place.replace(/^.*node_modules\//, '')),
  };
}

function scriptsNote(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
  return `the install scripts of ${shown} were not run; where one is needed, add "npm rebuild --prefix $PREFIX/npm ${names[0]}" to preloads.setup`;
}

/** The commands of a package that was named stand in the prefix's `bin`; those of what it needs itself do not. */
function linkCommands(name: string, { npm, bin }: PreloadPlaces): void {
  const manifest = JSON.parse(readFileSync(join(npm, 'node_modules', name, 'package.json'), 'utf8')) as {
    readonly bin?: unknown;
  };
  const commands =
    typeof manifest.bin === 'string'
      ? [name.replace(/^@[^/]+\//, '')]
      : typeof manifest.bin === 'object' && manifest.bin !== null
        ? Object.keys(manifest.bin)
        : [];
  mkdirSync(bin, { recursive: true });
  for (const command of commands.map((c) => basename(c))) {
    const there = join(npm, 'node_modules', '.bin', command);
    const link = join(bin, command);
    if (existsSync(there) && !isThere(link)) symlinkSync(relative(bin, there), link);
  }
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
