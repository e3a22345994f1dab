import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutPlaces } from '../../config/preload-paths.ts';
import { namedVariables, type Preloads } from '../../config/preloads.ts';
import { fail } from '../../ports/failure.ts';
import { shortHash } from '../../ports/hash.ts';
import type { Finding, Preflight } from '../../ports/preflight.ts';
import type { Agent } from '../agents/agent.ts';
import { build, installs } from './build.ts';
import { commandFindings } from './commands.ts';
import { clashFindings, toolFindings, wantedFindings } from './findings.ts';
import { changedSince, gather, type Material, specsOf } from './material.ts';
import { askNode } from './node.ts';
import type { PreloadOptions } from './options.ts';
import { versionOfPython } from './pip.ts';
import { nothingPrepared, type Prepared } from './prepared.ts';
import type { PreloadPlaces, PreloadRecord, VariableSource } from './record.ts';
import type { Spec } from './specs.ts';
import { isSame, type State, stateOf } from './state.ts';

/**
 * What stands in rollouts beside the skill and the task, of one session. It is looked at without writing anything, then
 * installed once, and used by all rollouts. The session's lock keeps two processes from doing so at once.
 */
export class Preloading implements Preflight {
  /** The servers that agents are given: those of the config, and those of this machine. */
  readonly mcp: Preloads['mcp'];
  /** Variables that those of this machine are given, by name. */
  readonly mcpEnv: Readonly<Record<string, VariableSource>>;
  /** What an installation will do, one line each; empty = all of it stands. */
  readonly plan: readonly string[];
  readonly #o: PreloadOptions;
  readonly #specs: readonly Spec[];
  readonly #material: Material;
  readonly #findings: readonly Finding[];
  #state: State;
  #prepared: Prepared | null = null;

  private constructor(
    o: PreloadOptions,
    found: { readonly specs: readonly Spec[]; readonly material: Material; readonly state: State },
    findings: readonly Finding[],
  ) {
    const { state, material, specs } = found;
    this.#o = o;
    this.#specs = specs;
    this.#material = material;
    this.#state = state;
    const taken = state.kind === 'new' ? material : state.record;
    this.mcp = { ...taken.mcp, ...o.wanted.mcp };
    this.mcpEnv = taken.mcpEnv;
    this.plan = planLines(o, specs, state);
    this.#findings = findings;
  }

  /** Looks at what is wanted and at what stands of it. Throws `session-mismatch` for a copy that was changed. */
  static async look(o: PreloadOptions): Promise<Preloading> {
    const { specs, findings: unreadable } = specsOf(o);
    const { material, findings: gathered } = await gather(o);
    const state = await stateOf(o, material, wantedHash(o));
    const isKept = state.kind !== 'new';
    const moved = isKept && !o.isNew ? changedSince(state.record, material) : [];
    return new Preloading(o, { specs, material, state }, [
      ...unreadable,
      // what was kept serves, whatever has become of its source
      ...(isKept && !o.isNew ? [] : gathered),
      ...clashFindings(isKept ? state.record.skills : material.skills, o.measured),
      ...moved.map(movedFinding),
    ]);
  }

  async preflight(): Promise<readonly Finding[]> {
    const state = this.#state;
    const found = [...this.#findings, ...wantedFindings(this.#o, this.mcp, this.mcpEnv)];
    if (state.kind !== 'stands') found.push(...(await toolFindings(this.#specs, this.#o)));
    // what is installed may bring them
    if (this.isOpen) return found;
    const seen = state.kind === 'stands' ? seenOf(state, this.#o) : nothingPrepared;
    return [...found, ...(await commandFindings(this.#o, this.mcp, seen))];
  }

  /** Something will be installed that may bring programs. */
  get isOpen(): boolean {
    return this.#state.kind !== 'stands' && installs(this.#o);
  }

  /** Folders of the commands that were installed, as far as they stand. */
  get path(): readonly string[] {
    return this.#state.kind === 'stands' ? seenOf(this.#state, this.#o).path : [];
  }

  /**
   * Installs what is missing; does nothing but read where all of it stands. `onStep` hears what is done. Returns notes for
   * people. Throws what a step says that fails, and `preflight` for programs that are not there afterwards.
   */
  async install(how: {
    readonly onStep: (name: string) => void;
    readonly signal: AbortSignal;
  }): Promise<readonly string[]> {
    const o = this.#o;
    const state = this.#state;
    if (state.kind === 'stands') {
      this.#prepared = await this.#ready(state);
      return [];
    }
    const { places } = state;
    await o.sweep();
    const from =
      state.kind === 'again'
        ? ({ kind: 'record', record: state.record, kept: state.kept } as const)
        : ({ kind: 'material', material: this.#material } as const);
    const plan = { specs: this.#specs, places, from, namedEnv: valuesOf(o.wanted.env, o) };
    const runner = { walled: o.walled, log: places.log, redact: o.redact, mark: o.mark, ...how };
    const { record, notes } = await build(plan, o, runner);
    this.#state = { kind: 'stands', record, places };
    refuseMissing(await commandFindings(o, this.mcp, seenOf({ record, places }, o)));
    this.#prepared = await this.#ready({ record, places });
    return notes;
  }

  /** What rollouts need of it. Throws before it was installed: no rollout may go without. */
  get prepared(): Prepared {
    if (this.#prepared === null) throw new Error('preloads are wanted and were not installed');
    return this.#prepared;
  }

  /** Versions of what is brought in, as far as it is known without installing it. */
  get versions(): Readonly<Record<string, string>> {
    return this.#prepared?.versions ?? (this.#state.kind === 'new' ? {} : this.#state.record.versions);
  }

  async #ready(stands: Stands): Promise<Prepared> {
    const o = this.#o;
    const { record, places } = stands;
    const { digest } = record;
    const ofServers = Object.entries(record.mcpEnv).flatMap(([name, source]) => {
      const value = 'value' in source ? source.value : o.hostEnv[source.from];
      return value === undefined ? [] : [[name, value] as const];
    });
    return {
      ...seenOf(stands, o),
      env: valuesOf(o.wanted.env, o),
      agentEnv: { ...Object.fromEntries(ofServers), ...valuesOf(namedVariables(o.wanted), o) },
      otherSkills: record.skills.map(({ name, description }) => ({
        name,
        description,
        dir: join(places.skills, name),
      })),
      homeFiles: Object.fromEntries(record.memory.map(({ to }) => [to, readFileSync(join(places.home, to), 'utf8')])),
      versions: { ...record.versions, ...(await interpretersNow(record, o)) },
      changed: () =>
        digest === null || isSame(places.prefix, digest) ? null : 'what was installed for the session was changed',
    };
  }
}

/** What is wanted, and for which agent. */
type Wanted = { readonly wanted: Preloads; readonly agent: Pick<Agent, 'name'> };

type Stands = { readonly record: PreloadRecord; readonly places: PreloadPlaces };

/** What stands for what is wanted, wherever the files lie. */
export function wantedHash({ wanted, agent }: Wanted): string {
  return shortHash(JSON.stringify([withoutPlaces(wanted), agent.name, process.platform, process.arch]));
}

function movedFinding(what: string): Finding {
  const fix = 'nothing: the session goes on with its own copy; a new session takes what is there then';
  return { level: 'warning', what: `${what} since the session began with it`, where: 'preloads', fix };
}

/** What rollouts see of it, and where they look for commands. */
function seenOf({ record, places }: Stands, { wanted }: PreloadOptions): Pick<Prepared, 'show' | 'path'> {
  if (record.at === null) return { show: [], path: [] };
  return {
    show: [places.prefix, ...record.show],
    path: [places.bin, ...(wanted.pip.length > 0 ? [places.pythonBin] : [])],
  };
}

function valuesOf(names: readonly string[], { hostEnv }: PreloadOptions): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = hostEnv[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** The interpreters as they are now: an update of theirs is another environment. */
async function interpretersNow(
  { versions, python }: PreloadRecord,
  { hostEnv }: PreloadOptions,
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  if (versions.node !== undefined) found.node = (await askNode(hostEnv))?.version ?? 'missing';
  if (python !== null) found.python = (await versionOfPython(python)) ?? 'missing';
  return found;
}

function refuseMissing(findings: readonly Finding[]): void {
  const [first, ...rest] = findings;
  if (first === undefined) return;
  throw fail(
    'preflight',
    rest.length > 0 ? `${first.what} (and ${rest.length} more)` : first.what,
    findings.map((f) => `${f.where}: ${f.what}`).join('\n'),
    [...new Set(findings.map((f) => f.fix))].join('\n'),
  );
}

function planLines(o: PreloadOptions, specs: readonly Spec[], state: State): readonly string[] {
  if (state.kind === 'stands' || !installs(o)) return [];
  const { wanted, dir } = o;
  const built = specs.filter((s) => s.runsItsOwn).map((s) => s.text);
  const why = state.kind === 'again' ? `again, as ${state.why}` : 'once';
  const fetched = [
    ...(wanted.npm.length > 0 ? [`npm ${wanted.npm.join(', ')}`] : []),
    ...(wanted.pip.length > 0 ? [`pip ${wanted.pip.join(', ')}`] : []),
  ];
  return [
    ...(fetched.length > 0
      ? [
          `${fetched.join(' · ')}: installed ${why} into ${dir}, over this machine’s network, as you; no script of a package runs`,
        ]
      : []),
    ...(built.length + wanted.setup.length > 0
      ? [
          `${[...built.map((text) => `the build of ${text}`), ...wanted.setup.map((line) => `setup: ${line}`)].join(' · ')}: ${state.kind === 'again' ? why : 'run once'}, ${o.hasWalls ? 'in the sandbox' : 'as you, without a sandbox'}, with network`,
        ]
      : []),
  ];
}
