import { delimiter } from 'node:path';
import { plainVariables } from '../../config/environment.ts';
import { type Preloads, wantsPreloads } from '../../config/preloads.ts';
import type { Finding } from '../../ports/preflight.ts';
import { findNode } from './node.ts';
import type { PreloadOptions } from './options.ts';
import { findPython } from './pip.ts';
import { ownVariables } from './prepared.ts';
import type { VariableSource } from './record.ts';
import { type Spec, shownSpec } from './specs.ts';

const error = (what: string, where: string, fix: string): Finding => ({ level: 'error', what, where, fix });
const warning = (what: string, where: string, fix: string): Finding => ({ level: 'warning', what, where, fix });

/** Where nothing takes preloads, none may be named. */
export function unusedPreloads(preloads: Preloads, backend: string): readonly Finding[] {
  if (!wantsPreloads(preloads)) return [];
  const what = `preloads are for agents, and on the backend ${backend} a model answers by itself`;
  return [error(what, 'preloads', 'take "preloads" out, or set "backend": "local"')];
}

/** What can be said of what is wanted without looking at what it names. */
export function wantedFindings(
  o: PreloadOptions,
  mcp: Preloads['mcp'],
  mcpEnv: Readonly<Record<string, VariableSource>>,
): readonly Finding[] {
  const { wanted, agent } = o;
  const found: Finding[] = [];
  if (wanted.apt.length > 0)
    found.push(
      error(
        `no system package is installed on this machine: ${wanted.apt.join(', ')}`,
        'preloads.apt',
        `install ${wanted.apt.length === 1 ? 'it' : 'them'} yourself and name the programs in preloads.commands, where they are looked for`,
      ),
    );
  const wantsSkills = wanted.skills.length + wanted.machine.skills.length > 0;
  if (wantsSkills && agent.skillMounts.length === 0 && agent.takesOtherSkills !== true)
    found.push(
      error(
        `the agent ${agent.name} looks for no other skills`,
        'preloads.skills',
        'take them out, or choose an agent that finds skills (a custom agent by its key "skills")',
      ),
    );
  if (Object.keys(mcp).length + wanted.machine.mcp.length > 0 && agent.takesMcp !== true)
    found.push(
      error(
        `the agent ${agent.name} takes no MCP servers`,
        'preloads.mcp',
        'take them out, or choose an agent that does, such as claude-code',
      ),
    );
  return [
    ...found,
    ...variableFindings(o, mcpEnv),
    ...Object.entries(mcp).flatMap(([name, server]) => serverFindings(name, server, o)),
  ];
}

/** What is wrong with the variables that are named. */
export function variableFindings(
  { wanted, hostEnv }: Pick<PreloadOptions, 'wanted' | 'hostEnv'>,
  mcpEnv: Readonly<Record<string, VariableSource>>,
): readonly Finding[] {
  const named: readonly (readonly [name: string, where: string])[] = [
    ...wanted.env.map((name) => [name, 'preloads.env'] as const),
    ...Object.entries(wanted.mcp).flatMap(([server, s]) =>
      'command' in s ? s.env.map((name) => [name, `preloads.mcp.${server}`] as const) : [],
    ),
    ...Object.values(mcpEnv).flatMap((source) =>
      'from' in source ? [[source.from, 'preloads.machine.mcp'] as const] : [],
    ),
  ];
  const given = new Set([...named.map(([name]) => name), ...Object.keys(mcpEnv)]);
  const whereOf = (name: string) => named.find(([n]) => n === name)?.[1] ?? 'preloads.machine.mcp';
  const own = [...given].filter((name) => ownVariables.has(name));
  const unset = [...new Map(named)].filter(([name]) => !ownVariables.has(name) && hostEnv[name] === undefined);
  return [
    ...own.map((name) => error(`${name} is set by each rollout itself`, whereOf(name), 'take it out')),
    ...unset.map(([name]) =>
      error(`the variable ${name} is not set`, whereOf(name), `export ${name}=…, or take it out`),
    ),
    ...plainVariables(hostEnv, wanted.env).map((name) =>
      warning(
        `the value of ${name} is not redacted, as it is a short or everyday word, or a path of this machine`,
        'preloads.env',
        'nothing, if it is no secret',
      ),
    ),
  ];
}

/** Programs that fetch what they run. */
const fetching = /^(?:npx|bunx|uvx|pipx|pnpx|dlx)$/;

function serverFindings(name: string, server: Preloads['mcp'][string], o: PreloadOptions): readonly Finding[] {
  if (o.network === 'on') return [];
  const where = `preloads.mcp.${name}`;
  if ('url' in server)
    return [
      error(
        `the MCP server ${name} answers at ${new URL(server.url).host}, and rollouts have no network`,
        where,
        'set "sandbox.network": "on", or take it out',
      ),
    ];
  const program = server.command[0]?.split('/').at(-1) ?? '';
  if (!fetching.test(program)) return [];
  const fetched = server.command.slice(1).find((word) => !word.startsWith('-')) ?? 'its package';
  return [
    error(
      `the MCP server ${name} is fetched by ${program} when it starts, and rollouts have no network`,
      where,
      `add ${fetched} to preloads.${/uvx|pipx/.test(program) ? 'pip' : 'npm'}, and name its own command in preloads.mcp.${name}`,
    ),
  ];
}

/** What is needed to install, and what is told of the packages. */
export async function toolFindings(specs: readonly Spec[], o: PreloadOptions): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  if (o.dir.includes(delimiter))
    found.push(
      error(
        `the path of the session holds "${delimiter}", which no PATH can`,
        o.dir,
        'move the session to another directory',
      ),
    );
  if (specs.some((s) => s.kind === 'npm')) {
    const node = await findNode(o.hostEnv);
    if ('missing' in node) found.push(error(node.missing, 'preloads.npm', node.fix));
  }
  if (specs.some((s) => s.kind === 'pip')) {
    const python = await findPython(o.hostEnv);
    if ('missing' in python) found.push(error(python.missing, 'preloads.pip', python.fix));
  }
  const open = specs.filter((s) => !s.pinned);
  if (open.length > 0)
    found.push(
      warning(
        `${open.map(shownSpec).join(', ')}: no version is named, so the session keeps the one that it finds now, and another session may get another`,
        'preloads',
        'name versions, such as "prettier@3.6.2" and "pandas==2.3.3"',
      ),
    );
  return found;
}

/** Skills that would stand where another one does. */
export function clashFindings(
  skills: readonly { readonly name: string; readonly from: string }[],
  measured: readonly string[],
): readonly Finding[] {
  return skills.flatMap(({ name, from }, at) => {
    if (measured.includes(name))
      return [
        error(
          `the other skill ${name} has the name of the skill that is measured, and would stand in its place`,
          from,
          'take it out of preloads, or give it another name',
        ),
      ];
    const first = skills.findIndex((s) => s.name === name);
    if (first === at) return [];
    return [
      error(
        `two other skills are called ${name}: ${skills[first]?.from} and ${from}`,
        'preloads.skills',
        'leave one of them out',
      ),
    ];
  });
}
