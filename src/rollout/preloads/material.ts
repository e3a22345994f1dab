import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { McpServer } from '../../config/preloads.ts';
import { SkilloptError } from '../../ports/failure.ts';
import { shortHash } from '../../ports/hash.ts';
import type { Finding } from '../../ports/preflight.ts';
import { sourceHash } from './local-source.ts';
import { machineServers, takenServer } from './machine-mcp.ts';
import { knownOnMachine, type MachinePlaces, machinePlaces } from './machine-places.ts';
import type { GatherOptions, SkillSource } from './options.ts';
import type { PreloadRecord, VariableSource } from './record.ts';
import { npmSpec, pipSpec, type Spec } from './specs.ts';

/** What is taken from files of the user's own, as they are now. */
export type Material = {
  /** `from` = as the config has it, or its folder on this machine. */
  readonly skills: readonly (Omit<SkillSource, 'oddities'> & { readonly from: string })[];
  /** Packages that lie on this machine. */
  readonly sources: readonly { readonly spec: Spec; readonly path: string; readonly hash: string }[];
  readonly memory: readonly Memory[];
  readonly mcp: Readonly<Record<string, McpServer>>;
  readonly mcpEnv: Readonly<Record<string, VariableSource>>;
};

/** The user's instructions to the agent; `to` is below the home. */
export type Memory = { readonly to: string; readonly from: string; readonly text: string; readonly hash: string };

/** Most of what counts as instructions. */
const maxMemoryBytes = 1_000_000;

const error = (what: string, where: string, fix: string): Finding => ({ level: 'error', what, where, fix });

/** The packages that the config names. */
export function specsOf({ wanted, base }: Pick<GatherOptions, 'wanted' | 'base'>): {
  readonly specs: readonly Spec[];
  readonly findings: readonly Finding[];
} {
  const readings = [
    ...wanted.npm.map((text) => ({ where: 'preloads.npm', reading: npmSpec(text, base) })),
    ...wanted.pip.map((text) => ({ where: 'preloads.pip', reading: pipSpec(text, base) })),
  ];
  return {
    specs: readings.flatMap(({ reading }) => (reading.ok ? [reading.spec] : [])),
    findings: readings.flatMap(({ where, reading }) => (reading.ok ? [] : [error(reading.what, where, reading.fix)])),
  };
}

/** Reads all of it, and says what can't be taken. Nothing is written. */
export async function gather(
  o: GatherOptions,
): Promise<{ readonly material: Material; readonly findings: readonly Finding[] }> {
  const findings: Finding[] = [];
  const places = machinePlaces(o.agent.name, o.hostHome, o.hostEnv);
  const { machine } = o.wanted;
  if (places === null && (machine.skills.length > 0 || machine.memory || machine.mcp.length > 0))
    findings.push(
      error(
        `of the agent ${o.agent.name} nothing can be taken over from this machine`,
        'preloads.machine',
        `that works with ${knownOnMachine.join(', ')}; name skills in preloads.skills, servers in preloads.mcp`,
      ),
    );
  const skills: (SkillSource & { readonly from: string })[] = [];
  for (const from of [
    ...o.wanted.skills,
    ...(places === null ? [] : machineSkills(machine.skills, places, findings)),
  ]) {
    try {
      skills.push({ ...(await o.skills.look(from)), from });
    } catch (e) {
      findings.push(asFinding(e, 'preloads.skills'));
    }
  }
  for (const { name, oddities } of skills)
    for (const oddity of oddities)
      findings.push({
        level: 'warning',
        what: `the other skill ${name}: ${oddity}`,
        where: 'preloads',
        fix: 'mend it, or leave it out',
      });
  const sources: Material['sources'][number][] = [];
  for (const spec of specsOf(o).specs) {
    if (typeof spec.from !== 'object') continue;
    try {
      sources.push({ spec, path: spec.from.path, hash: sourceHash(spec.from.path) });
    } catch (e) {
      const missing = !existsSync(spec.from.path);
      findings.push(
        missing
          ? error(
              `the package ${spec.text} is not there`,
              spec.from.path,
              `correct its path in preloads.${spec.kind}, which starts from the session’s directory`,
            )
          : asFinding(e, spec.from.path),
      );
    }
  }
  const memory = places !== null && machine.memory ? await memoryOf(o, places, findings) : [];
  const servers = places === null ? { mcp: {}, mcpEnv: {} } : await serversOf(o, places, findings);
  return { material: { skills: skills.map(({ oddities: _, ...s }) => s), sources, memory, ...servers }, findings };
}

function asFinding(e: unknown, where: string): Finding {
  if (e instanceof SkilloptError) return error(e.failure.what, e.failure.where, e.failure.fix);
  return error(
    `it can’t be read (${e instanceof Error ? e.message : String(e)})`,
    where,
    'make it one that you may read',
  );
}

/** The folders of the skills that are named, among those that are installed for the agent. */
function machineSkills(names: readonly string[], places: MachinePlaces, findings: Finding[]): readonly string[] {
  const installed = new Map<string, string>();
  for (const folder of places.skills.toReversed())
    for (const name of skillFolders(folder)) installed.set(name, join(folder, name));
  return names.flatMap((name) => {
    const folder = installed.get(name);
    if (folder !== undefined) return [folder];
    findings.push(
      error(
        `no skill ${JSON.stringify(name)} is installed for the agent on this machine`,
        'preloads.machine.skills',
        thereAre([...installed.keys()], places.skills),
      ),
    );
    return [];
  });
}

function skillFolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'SKILL.md')));
  } catch {
    return [];
  }
}

function thereAre(names: readonly string[], where: readonly string[]): string {
  return names.length === 0
    ? `nothing is there; looked in ${where.join(', ')}`
    : `there are ${names.toSorted().join(', ')}`;
}

async function memoryOf(o: GatherOptions, { memory }: MachinePlaces, findings: Finding[]): Promise<readonly Memory[]> {
  const where = 'preloads.machine.memory';
  const from = memory.from.find((path) => existsSync(path));
  if (from === undefined) {
    findings.push(
      error(
        'there are no instructions of yours to take over',
        memory.from.join(', '),
        'set preloads.machine.memory to false, or write some',
      ),
    );
    return [];
  }
  try {
    if (statSync(from).size > maxMemoryBytes) {
      findings.push(error(`your instructions are longer than ${maxMemoryBytes / 1e6} MB`, from, 'shorten them'));
      return [];
    }
    const text = readFileSync(from, 'utf8');
    if ((await o.redact(text)) !== text) {
      findings.push(
        error(
          'your instructions hold a secret, which an agent would be given',
          from,
          'take it out; name the variable instead',
        ),
      );
      return [];
    }
    if (/^\s*(?:[-*] )?@[~./\w]/m.test(text))
      findings.push({
        level: 'warning',
        what: 'your instructions name other files by @, which are not taken over',
        where: from,
        fix: 'write into it what has to be there',
      });
    return [{ to: memory.to, from, text, hash: shortHash(text) }];
  } catch (e) {
    findings.push(asFinding(e, where));
    return [];
  }
}

async function serversOf(
  o: GatherOptions,
  places: MachinePlaces,
  findings: Finding[],
): Promise<Pick<Material, 'mcp' | 'mcpEnv'>> {
  const names = o.wanted.machine.mcp;
  const where = 'preloads.machine.mcp';
  const mcp: Record<string, McpServer> = {};
  const mcpEnv: Record<string, VariableSource> = {};
  if (names.length === 0) return { mcp, mcpEnv };
  const { servers, unreadable } = machineServers(places.mcp.files, places.mcp.form);
  for (const file of unreadable)
    findings.push(error('the agent’s own configuration can’t be read', file, 'mend its syntax'));
  const isSecret = async (text: string) => (await o.redact(text)) !== text;
  for (const name of names) {
    if (!servers.has(name)) {
      findings.push(
        error(
          `the agent has no MCP server ${JSON.stringify(name)} on this machine`,
          where,
          thereAre([...servers.keys()], places.mcp.files),
        ),
      );
      continue;
    }
    const reading = await takenServer(name, servers.get(name), { ...places.mcp, isSecret, hostEnv: o.hostEnv });
    if (!reading.ok) {
      findings.push(error(reading.what, where, reading.fix));
      continue;
    }
    if (o.wanted.mcp[name] !== undefined)
      findings.push(error(`the MCP server ${name} is named twice`, `${where}, preloads.mcp`, 'leave one out'));
    mcp[name] = reading.taken.server;
    for (const [variable, source] of Object.entries(reading.taken.env)) {
      const other = mcpEnv[variable];
      if (other !== undefined && JSON.stringify(other) !== JSON.stringify(source))
        findings.push(error(`two MCP servers want ${variable}, each another one`, where, 'leave one of them out'));
      mcpEnv[variable] = source;
    }
  }
  return { mcp, mcpEnv };
}

/** What was changed since a record was made of it, one line each. Where things lie does not count. */
export function changedSince(
  record: Pick<PreloadRecord, 'skills' | 'sources' | 'memory' | 'mcp' | 'mcpEnv'>,
  { skills, sources, memory, mcp, mcpEnv }: Material,
): readonly string[] {
  const now = [
    ...skills.map((s) => [`the other skill ${s.name}`, s.hash] as const),
    ...sources.map((s) => [`the package ${basename(s.path)}`, s.hash] as const),
    ...memory.map((m) => [basename(m.to), m.hash] as const),
  ];
  const was = [
    ...record.skills.map((s) => [`the other skill ${s.name}`, s.hash] as const),
    ...record.sources.map((s) => [`the package ${s.name}`, s.hash] as const),
    ...record.memory.map((m) => [basename(m.to), m.hash] as const),
  ];
  const moved = was.flatMap(([what, hash], at) => {
    const same = now.filter(([name]) => name === what);
    const is = same.find(([, h]) => h === hash) ?? same[0] ?? now[at];
    if (is?.[1] === hash) return [];
    return [same.length === 0 ? `${what} is gone` : `${what} was changed`];
  });
  const servers = JSON.stringify([record.mcp, record.mcpEnv]) !== JSON.stringify([mcp, mcpEnv]);
  const added = now.length > was.length ? ['something was added'] : [];
  return [...moved, ...added, ...(servers ? ['an MCP server of this machine was changed'] : [])];
}
