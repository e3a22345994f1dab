import { existsSync, statSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { localPath } from '../../config/preload-paths.ts';
import { shortHash } from '../../ports/hash.ts';
import type { Finding } from '../../ports/preflight.ts';
import { variableFindings } from '../preloads/findings.ts';
import { copySource, sourceHash } from '../preloads/local-source.ts';
import { gather, type Material } from '../preloads/material.ts';
import type { GatherOptions } from '../preloads/options.ts';
import { seesThisMachine } from './agent-mounts.ts';
import { layerProblem } from './derived-tasks.ts';
import { isEmpty, type Layer } from './layer.ts';
import { harborServers } from './mcp-servers.ts';
import { environmentName, type HarborMount, type HarborOptions, harborAgentName } from './options.ts';

/** What the preloads of a config are taken from. */
export type HarborPreloads = Omit<GatherOptions, 'agent'> & {
  /** Names of the skills that are measured: no other skill may have one of them. */
  readonly measured: readonly string[];
};

const error = (what: string, where: string, fix: string): Finding => ({ level: 'error', what, where, fix });

/**
 * The options with what the config preloads, by Harbor's own means where it has them: other skills and MCP servers are
 * handed to the agent, variables go by their names, and what is installed becomes a layer on every task's image. What lies
 * on this machine is copied into the session's folder as it is now; `broughtVersions` tells it from what it was before.
 * With an error among the findings the options are as they were.
 */
export async function withPreloads(
  o: HarborOptions,
  p: HarborPreloads,
): Promise<{ readonly options: HarborOptions; readonly findings: readonly Finding[] }> {
  const { wanted } = p;
  const { material, findings: found } = await gather({ ...p, agent: { name: harborAgentName(o.agent) } });
  const servers = harborServers({ ...wanted.mcp, ...material.mcp }, material.mcpEnv, o);
  const { layer, findings: ofApt } = layerOf(material, o, p);
  const findings = [
    ...found,
    ...variableFindings(p, material.mcpEnv),
    ...servers.findings,
    ...ofApt,
    ...clashes(material, p.measured),
    ...memoryFindings(material, o),
    ...(await layerFindings(layer, o, p)),
  ];
  if (findings.some(({ level }) => level === 'error')) return { options: o, findings };
  const root = join(o.dir, 'preloads');
  for (const { copy, path } of layer.sources) await once(copy, (to) => copySource(path, to));
  const skills = await Promise.all(
    material.skills.map(async ({ from, name, hash }) => {
      const place = join(root, 'skills', shortHash(hash));
      await once(place, (to) => p.skills.copy(from, to));
      return join(place, name);
    }),
  );
  const mcp = { ...wanted.mcp, ...material.mcp };
  const versions = {
    ...Object.fromEntries(material.skills.map(({ name, hash }) => [`skill ${name}`, hash.slice(0, 12)])),
    ...Object.fromEntries(layer.sources.map(({ path, hash }) => [`package ${basename(path)}`, hash])),
    ...Object.fromEntries(material.memory.map(({ to, hash }) => [basename(to), hash])),
    ...(Object.keys(mcp).length === 0 ? {} : { 'MCP servers': shortHash(JSON.stringify([mcp, material.mcpEnv])) }),
  };
  return {
    options: {
      ...o,
      otherSkills: [...o.otherSkills, ...skills],
      env: [...new Set([...o.env, ...wanted.env])],
      agentEnv: [...new Set([...o.agentEnv, ...servers.names])],
      agentVariables: { ...o.agentVariables, ...servers.variables },
      mcpServers: [...(o.mcpServers ?? []), ...servers.servers],
      mounts: [...o.mounts, ...(await memoryMounts(material, o, root))],
      broughtVersions: { ...o.broughtVersions, ...versions },
      ...(isEmpty(layer) ? {} : { layer }),
    },
    findings,
  };
}

type Source = { readonly path: string; readonly copy: string; readonly hash: string };

/** The layer that is wanted, and the packages of this machine that have to be copied for it. */
function layerOf(
  { sources }: Material,
  o: Pick<HarborOptions, 'dir'>,
  { wanted, base }: HarborPreloads,
): { readonly layer: Layer & { readonly sources: readonly Source[] }; readonly findings: readonly Finding[] } {
  const { apt, npm, pip, setup, commands } = wanted;
  const findings: Finding[] = [];
  const found = sources.map(({ spec, path, hash }) => ({ text: spec.text, path, hash }));
  for (const text of apt) {
    const given = localPath(text);
    if (text.startsWith('-') || /\s/.test(text)) {
      findings.push(error(`${JSON.stringify(text)} is no system package`, 'preloads.apt', 'write a name alone'));
      continue;
    }
    if (given === null) continue;
    const path = resolve(base, given);
    if (existsSync(path) && path.endsWith('.deb')) found.push({ text, path, hash: sourceHash(path) });
    else findings.push(error(`${text} is no .deb of this machine`, path, 'correct its path in preloads.apt'));
  }
  const all = found.map(({ text, path, hash }) => {
    const copy = join(o.dir, 'preloads', 'sources', hash);
    const installed = statSync(path).isDirectory() ? copy : join(copy, basename(path));
    return { text, path, hash, copy, installed };
  });
  const files = new Map(all.map(({ text, installed, hash }) => [text, { path: installed, hash }]));
  return { layer: { apt, npm, pip, setup, commands, files, sources: all }, findings };
}

/** What would keep the layer from being laid, or would stand in it and must not. */
async function layerFindings(layer: Layer, o: HarborOptions, p: HarborPreloads): Promise<readonly Finding[]> {
  if (isEmpty(layer)) return [];
  const findings: Finding[] = [];
  const words = [...layer.apt, ...layer.npm, ...layer.pip, ...layer.setup, ...layer.commands];
  for (const text of words)
    if ((await p.redact(text)) !== text)
      findings.push(
        error(
          'a preload holds a secret, which would stand in the image',
          'preloads',
          'take it out; what needs a key can’t be installed into an image',
        ),
      );
  for (const line of layer.setup)
    for (const name of p.wanted.env)
      if (new RegExp(`\\$\\{?${name}\\b`).test(line))
        findings.push(
          error(
            `a line of setup uses ${name}, whose value would stand in the image`,
            'preloads.setup',
            'set up without it, or let the agent do it',
          ),
        );
  for (const task of o.tasks) {
    const problem = layerProblem(task);
    if (problem !== null)
      findings.push(error(`the preloads can’t be installed: ${problem.what}`, `task ${task.id}`, problem.fix));
  }
  if ('importPath' in o.environment)
    findings.push({
      level: 'warning',
      what: `preloads are installed by the task’s Dockerfile, and whether ${environmentName(o.environment)} follows it only its author knows`,
      where: 'preloads',
      fix: 'name what has to be there in preloads.commands only if it does',
    });
  return findings;
}

function clashes({ skills }: Material, measured: readonly string[]): readonly Finding[] {
  const seen = new Set(measured);
  return skills.flatMap(({ name }) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const what = measured.includes(name)
      ? `the other skill ${name} has the name of the one that is measured`
      : `two other skills are named ${name}`;
    return [error(what, 'preloads.skills', 'leave one out')];
  });
}

/**
 * Where Harbor's agents look for the user's instructions, whoever they run as. Codex's folder is given to another owner in
 * each trial, which a file that is mounted read-only does not let happen; the others' are in a home of nobody knows whom.
 */
const memoryPlaces: Readonly<Record<string, string>> = { 'claude-code': '/logs/agent/sessions/CLAUDE.md' };

function memoryFindings({ memory }: Material, o: HarborOptions): readonly Finding[] {
  if (memory.length === 0) return [];
  const agent = harborAgentName(o.agent);
  const fix = 'set preloads.machine.memory to false, or run on the backend local';
  if (memoryPlaces[agent] === undefined)
    return [error(`in Harbor ${agent} has no place of its own for your instructions`, 'preloads.machine.memory', fix)];
  if (seesThisMachine(o.environment)) return [];
  const what = `your instructions are mounted, and trials on ${environmentName(o.environment)} see no file of this machine`;
  return [error(what, 'preloads.machine.memory', fix)];
}

async function memoryMounts({ memory }: Material, o: HarborOptions, root: string): Promise<readonly HarborMount[]> {
  const target = memoryPlaces[harborAgentName(o.agent)];
  if (target === undefined) return [];
  return Promise.all(
    memory.map(async ({ text, hash }) => {
      const source = join(root, 'memory', hash);
      await mkdir(dirname(source), { recursive: true });
      await writeFile(source, text);
      return { source, target };
    }),
  );
}

/** Makes a folder that is named by what it holds, unless it is there. */
async function once(place: string, make: (to: string) => unknown): Promise<void> {
  if (existsSync(place)) return;
  const fresh = `${place}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(dirname(place), { recursive: true });
  await make(fresh);
  await rename(fresh, place);
}
