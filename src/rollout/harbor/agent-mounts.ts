import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { z } from 'zod';
import type { Finding } from '../../ports/preflight.ts';
import type { FolderTask } from '../../ports/task.ts';
import type { CliKind } from '../agents/cli/cli-kind.ts';
import { findProgram, type Program } from '../agents/cli/find-program.ts';
import { InstalledCli, installation } from '../agents/cli/installed-cli.ts';
import { cliKinds } from '../agents/cli/kinds.ts';
import { type Binary, binaryAt } from './binary.ts';
import { askHarbor } from './harbor-process.ts';
import {
  environmentName,
  type HarborEnvironment,
  type HarborMount,
  type HarborOptions,
  harborAgentName,
} from './options.ts';
import { baseImage, taskEnvironment } from './task-environment.ts';

/** An agent's CLI of this machine that trials are shown. */
export type MountedAgent = {
  readonly agent: string;
  readonly program: string;
  readonly version: string;
  /** The C library of images in which it starts; null = any. */
  readonly needs: 'glibc' | 'musl' | null;
};

/** Where what is mounted lies in a trial, beside the commands themselves. */
const inside = '/opt/skillopt';
/** On the PATH of every image; where an environment can't be mounted into it, a folder of ours that is put there. */
const systemBin = '/usr/local/bin';
const ownBin = `${inside}/bin`;
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Environments whose trials see folders of this machine. */
const canMount: ReadonlySet<string> = new Set(['docker', 'podman']);

/** Whether trials can be shown files of this machine; a class of the user's own is taken to. */
export function seesThisMachine(environment: HarborEnvironment): boolean {
  return 'importPath' in environment || canMount.has(environment.type);
}

/**
 * The options with the agent's CLI of this machine mounted into each trial, read-only, so that no trial installs one. A
 * native program is mounted by itself; one of Node's with its packages and the Node that runs it, behind a small script.
 * `path` is the PATH on which it is looked for. With an error among the findings the options are as they were.
 */
export async function withHostAgent(
  o: HarborOptions,
  path: string,
): Promise<{ readonly options: HarborOptions; readonly findings: readonly Finding[] }> {
  const refuse = (what: string, fix: string, where = `agent ${name}`) => ({
    options: o,
    findings: [{ level: 'error', what, where, fix } as const],
  });
  const name = harborAgentName(o.agent);
  const without = 'let Harbor install it in each trial ("harbor.mountAgent": false)';
  const kind = cliKinds.find((one) => one.name === name);
  if (kind === undefined)
    return refuse(`there is no CLI of ${name} that could be mounted`, `${without}; ${mountable} can be mounted`);
  if (!seesThisMachine(o.environment))
    return refuse(`trials on ${environmentName(o.environment)} see no folder of this machine`, without);
  const cli = new InstalledCli(kind, path);
  const program = cli.find();
  if (program === null)
    return refuse(`no ${kind.program} is on PATH, so there is none to mount`, `${installation(kind)}; or ${without}`);
  const said = await cli.askVersion().catch((error: Error) => ({ kind: 'none' as const, why: error.message }));
  if (said.kind === 'none') return refuse(said.why, `${installation(kind)}; or ${without}`, program.path);
  if (!(await takesSkipInstall(o, name)))
    return refuse(
      `this Harbor installs ${name} whatever is there`,
      `update it: \`uv tool upgrade harbor\`; or ${without}`,
    );
  const bin = 'importPath' in o.environment ? ownBin : systemBin;
  const parts = [await partsOf(kind, program, bin, o.dir)];
  for (const other of kind.alsoNeeds) {
    const found = findProgram(other.program, path);
    if (found === null || found.form.kind !== 'native')
      return refuse(
        `${kind.program} needs ${other.program}, and there is none to mount: ${other.why}`,
        `install ${other.program}; or ${without}`,
        other.program,
      );
    parts.push({ mounts: [mount(found.real, join(bin, other.program))], binaries: [found.real] });
  }
  const binaries = parts.flatMap((part) => part.binaries).map((file) => ({ file, is: binaryAt(file) }));
  const foreign = binaries.find(({ is }) => is === null);
  if (foreign !== undefined)
    return refuse(
      `${basename(foreign.file)} is no program of Linux, so no container could start it`,
      without,
      foreign.file,
    );
  const needs = needsOf(binaries.flatMap(({ is }) => (is === null ? [] : [is])));
  const mounted: MountedAgent = { agent: name, program: kind.program, version: said.version, needs };
  return {
    options: {
      ...o,
      mounts: [...o.mounts, ...parts.flatMap((part) => part.mounts)],
      agentKwargs: { ...o.agentKwargs, skip_install: true },
      environmentEnv: bin === ownBin ? { PATH: `${ownBin}:${systemPath}`, ...o.environmentEnv } : o.environmentEnv,
      mounted,
    },
    findings: otherLibrary(mounted, o.tasks),
  };
}

const mountable = cliKinds.map(({ name }) => name).join(', ');

/**
 * Why a trial's mounted agent is known not to have started in it, by what Harbor was told when it asked for the version;
 * null = it did, or none is mounted.
 */
export function mountTrouble(mounted: MountedAgent | undefined, seen: string | null | undefined): string | null {
  if (mounted === undefined || seen === mounted.version) return null;
  const there = seen === null || seen === undefined || seen === '' || seen === 'unknown';
  return there
    ? `the mounted ${mounted.program} ${mounted.version} does not start in this task’s image${mounted.needs === null ? '' : `; it needs one with ${mounted.needs}`}`
    : `the image has a ${mounted.program} ${seen} of its own before the mounted ${mounted.version} on PATH`;
}

type Parts = {
  readonly mounts: readonly HarborMount[];
  /** Files that the trial's system has to be able to start. */
  readonly binaries: readonly string[];
};

const mount = (source: string, target: string): HarborMount => ({ source, target });

async function partsOf(kind: CliKind, program: Program, bin: string, dir: string): Promise<Parts> {
  const command = join(bin, kind.program);
  if (program.form.kind === 'native') return { mounts: [mount(program.real, command)], binaries: [program.real] };
  const folder = join(inside, kind.program);
  const vendored = vendoredBinary(program.real, kind.program);
  if (vendored !== null) {
    const start = [join(folder, relative(vendored.root, vendored.file))];
    return {
      mounts: [mount(vendored.root, folder), mount(await script(start, dir), command)],
      binaries: [vendored.file],
    };
  }
  const node = program.form.kind === 'script' ? program.form.interpreter.program : null;
  const root = packagesOf(program.real);
  // a script of a shell starts who knows what: it is mounted as it is, and the trial says whether that will do
  if (node === null || root === null) return { mounts: [mount(program.real, command)], binaries: [] };
  const runner = join(inside, 'node');
  const libatomic = libatomicPlaces.find((file) => existsSync(file));
  const lib = join(inside, 'lib');
  const start = [runner, join(folder, relative(root, program.real))];
  return {
    mounts: [
      mount(root, folder),
      mount(node.real, runner),
      ...(libatomic === undefined ? [] : [mount(realpathSync(libatomic), join(lib, 'libatomic.so.1'))]),
      mount(await script(start, dir, libatomic === undefined ? null : lib), command),
    ],
    binaries: [node.real],
  };
}

/** What Node's own builds want beside the C library, and slim images lack. */
const libatomicPlaces: readonly string[] = [
  '/usr/lib/x86_64-linux-gnu/libatomic.so.1',
  '/usr/lib/aarch64-linux-gnu/libatomic.so.1',
  '/usr/lib64/libatomic.so.1',
  '/usr/lib/libatomic.so.1',
];

/** The packages that a script of Node's loads: all that lie beside its own, or its own alone. */
function packagesOf(real: string): string | null {
  const parts = real.split(sep);
  const at = parts.indexOf('node_modules');
  if (at >= 0) return parts.slice(0, at + 1).join(sep);
  for (let folder = dirname(real); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder;
  return null;
}

/** The native program that a launcher of Node's starts, where its package has it in `vendor/<system>/bin`; null = none. */
function vendoredBinary(launcher: string, program: string): { readonly root: string; readonly file: string } | null {
  const own = dirname(dirname(launcher));
  const scope = dirname(own);
  const system = `${process.platform}-${process.arch}`;
  const packages = [
    join(scope, `${basename(own)}-${system}`),
    join(own, 'node_modules', basename(scope), `${basename(own)}-${system}`),
  ];
  for (const folder of packages) {
    const vendor = join(folder, 'vendor');
    for (const triple of existsSync(vendor) ? readdirSync(vendor).sort() : []) {
      const root = join(vendor, triple);
      const file = join(root, 'bin', program);
      if (statSync(file, { throwIfNoEntry: false })?.isFile()) return { root, file };
    }
  }
  return null;
}

/** A command that starts something else. `lib`: where a library lies that is taken if the image has none. */
async function script(words: readonly string[], dir: string, lib: string | null = null): Promise<string> {
  const [first = ''] = words;
  const lines = [
    '#!/bin/sh',
    ...(lib === null
      ? []
      : [
          `"${first}" --version > /dev/null 2>&1 || export LD_LIBRARY_PATH="${lib}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`,
        ]),
    `exec ${words.map((word) => `"${word}"`).join(' ')} "$@"`,
  ];
  const text = `${lines.join('\n')}\n`;
  const folder = join(dir, 'agent');
  await mkdir(folder, { recursive: true });
  const file = join(folder, createHash('sha256').update(text).digest('hex').slice(0, 12));
  await writeFile(file, text, { mode: 0o755 });
  return file;
}

function needsOf(binaries: readonly Binary[]): MountedAgent['needs'] {
  const libraries = binaries.map(({ library }) => library);
  return libraries.includes('glibc') ? 'glibc' : libraries.includes('musl') ? 'musl' : null;
}

/** Tasks whose image is known to have another C library than what is mounted needs. */
function otherLibrary({ program, needs }: MountedAgent, tasks: readonly FolderTask[]): readonly Finding[] {
  if (needs !== 'glibc') return [];
  return tasks.flatMap((task) => {
    const image = baseImage(taskEnvironment(task.dir));
    if (image === null || !/alpine/i.test(image)) return [];
    return [
      {
        level: 'warning' as const,
        what: `the mounted ${program} needs glibc, which the image ${image} does not have`,
        where: `task ${task.id}`,
        fix: 'take an image with glibc, or let Harbor install the agent in each trial ("harbor.mountAgent": false)',
      },
    ];
  });
}

const schemaShape = z.object({ properties: z.record(z.string(), z.unknown()) });

/** Whether this Harbor's agent can be told that it is there already (from 0.26 on). */
async function takesSkipInstall(o: HarborOptions, agent: string): Promise<boolean> {
  const { stdout } = await askHarbor(o, ['agent', 'schema', agent, '--json'], '/');
  try {
    return 'skip_install' in schemaShape.parse(JSON.parse(stdout)).properties;
  } catch {
    return false;
  }
}
