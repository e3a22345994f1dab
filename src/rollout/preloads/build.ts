import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fail } from '../../ports/failure.ts';
import { shortHash } from '../../ports/hash.ts';
import { removeFolder } from '../local/clean.ts';
import { copySource } from './local-source.ts';
import type { Material } from './material.ts';
import { findNode } from './node.ts';
import { installNpm } from './npm.ts';
import type { PreloadOptions } from './options.ts';
import { findPython, installPip, minorOf } from './pip.ts';
import { pathBehind } from './prepared.ts';
import { type PreloadPlaces, type PreloadRecord, remakable, writeRecord } from './record.ts';
import type { Spec } from './specs.ts';
import { runStep, type StepRunner } from './steps.ts';
import { shownOf } from './system-places.ts';
import { treeDigest } from './tree-digest.ts';

/** What is built: from the user's own files as they are now, or again by what a record tells was kept of them. */
export type Plan = {
  readonly specs: readonly Spec[];
  readonly places: PreloadPlaces;
  readonly from:
    | { readonly kind: 'material'; readonly material: Material }
    | { readonly kind: 'record'; readonly record: PreloadRecord; readonly kept: string };
  /** Values of the variables that the config names. */
  readonly namedEnv: Readonly<Record<string, string>>;
};

/** Is there anything to install? Skills and texts alone are copied, and servers are only named. */
export function installs({ wanted }: Pick<PreloadOptions, 'wanted'>): boolean {
  return wanted.npm.length + wanted.pip.length + wanted.setup.length > 0;
}

/**
 * Builds all of it and writes the record at the end: without one nothing of it counts. What fails leaves nothing but the
 * log of its steps; throws what the failing step says. Returns notes for people.
 */
export async function build(
  plan: Plan,
  o: PreloadOptions,
  runner: StepRunner,
): Promise<{ readonly record: PreloadRecord; readonly notes: readonly string[] }> {
  const { places, from } = plan;
  const isOwn = from.kind === 'record' && from.kept === places.kept;
  const clear = async (paths: readonly string[]) => {
    for (const path of [places.prefix, ...paths]) await removeFolder(path);
  };
  await clear([...remakable(places.dir), ...(isOwn ? [] : [places.record, places.kept])]);
  try {
    const kept = from.kind === 'record' ? from.record : await keep(from.material, plan, o);
    if (from.kind === 'record' && !isOwn) cpSync(from.kept, places.kept, { recursive: true });
    const built = installs(o) ? await install(plan, kept, o, runner) : null;
    const record: PreloadRecord = {
      ...kept,
      at: built === null ? null : places.prefix,
      digest: built === null ? null : digestOf(places.prefix),
      python: built?.python ?? null,
      show: [...(built?.show ?? [])],
      versions: { ...contentVersions(kept), ...built?.versions },
    };
    writeRecord(places.record, record);
    return { record, notes: built?.notes ?? [] };
  } catch (e) {
    await clear(isOwn ? [] : [places.record, places.kept]);
    throw e;
  }
}

/** Copies what is the user's own, so that it stays what it was. */
async function keep(material: Material, { places }: Plan, o: PreloadOptions): Promise<PreloadRecord> {
  mkdirSync(places.kept, { recursive: true });
  for (const { from } of material.skills) await o.skills.copy(from, places.skills);
  const sources = material.sources.map(({ path, hash }, at) => {
    const copy = copySource(path, join(places.sources, `${at}-${basename(path)}`));
    return { name: basename(path), kept: relative(places.sources, copy), hash };
  });
  for (const { to, text } of material.memory) {
    const path = join(places.home, to);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
  }
  const { mcp, mcpEnv } = material;
  return {
    v: 1,
    wanted: basename(places.prefix),
    at: null,
    digest: null,
    skills: [...material.skills],
    sources,
    memory: material.memory.map(({ text: _, ...m }) => m),
    mcp: { ...mcp },
    mcpEnv: { ...mcpEnv },
    python: null,
    show: [],
    versions: {},
  };
}

/** What stands in outcomes for what was copied. */
function contentVersions({ skills, sources, memory, mcp, mcpEnv }: PreloadRecord): Readonly<Record<string, string>> {
  const servers = Object.keys(mcp).length === 0 ? [] : [['MCP servers', shortHash(JSON.stringify([mcp, mcpEnv]))]];
  return Object.fromEntries([
    ...skills.map((s) => [`skill ${s.name}`, s.hash.slice(0, 12)]),
    ...sources.map((s) => [`package ${s.name}`, s.hash]),
    ...memory.map((m) => [basename(m.to), m.hash]),
    ...servers,
  ]);
}

async function install({ specs, places, namedEnv }: Plan, kept: PreloadRecord, o: PreloadOptions, runner: StepRunner) {
  const { hostEnv } = o;
  const locals = specs.filter((s) => typeof s.from === 'object');
  const copies = new Map(locals.map((s, at) => [s.text, join(places.sources, kept.sources[at]?.kept ?? '')]));
  const common = { copies, places, runner, hostEnv };
  const [npm, pip] = (['npm', 'pip'] as const).map((kind) => specs.filter((s) => s.kind === kind)) as [Spec[], Spec[]];
  mkdirSync(places.scratch, { recursive: true });
  mkdirSync(places.bin, { recursive: true });
  const versions: Record<string, string> = {};
  const notes: string[] = [];
  const show: string[] = [];
  let python: string | null = null;
  if (npm.length > 0) {
    const node = await findNode(hostEnv);
    if ('missing' in node) throw new Error(node.missing); // preflight has looked
    versions.node = node.version;
    show.push(...shownOf({ ...node, library: null }, o.hostHome));
    const installed = await installNpm({ ...common, specs: npm });
    Object.assign(versions, installed.versions);
    notes.push(...installed.notes);
  }
  if (pip.length > 0) {
    const found = await findPython(hostEnv);
    if ('missing' in found) throw new Error(found.missing); // preflight has looked
    versions.python = found.version;
    python = found.executable;
    show.push(...shownOf({ ...found, library: `lib/python${minorOf(found.version)}` }, o.hostHome));
    Object.assign(versions, (await installPip(found, { ...common, specs: pip, namedEnv, show })).versions);
  }
  const path = pathBehind([places.bin, ...(pip.length > 0 ? [places.pythonBin] : [])], hostEnv.PATH);
  for (const [at, line] of o.wanted.setup.entries())
    await runStep(
      {
        name: `setup ${at + 1}: ${line}`,
        command: ['bash', '-c', line],
        cwd: places.prefix,
        env: { ...namedEnv, PATH: path, PREFIX: places.prefix },
        within: { writable: places.prefix, show: [...show, ...o.show] },
        fix: () => 'mend the line in preloads.setup; it runs in $PREFIX, and what it puts into $PREFIX/bin is on PATH',
      },
      runner,
    );
  await removeFolder(places.scratch);
  return { versions, notes, python, show };
}

function digestOf(prefix: string): string {
  try {
    return treeDigest(prefix);
  } catch (cause) {
    const what = `what was installed can’t be read: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw fail('preflight', what, prefix, 'let preloads.setup leave files that you may read', { cause });
  }
}
