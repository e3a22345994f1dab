import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { agentName } from '../config/agent.ts';
import { backendKind } from '../config/backend.ts';
import { hostEnvironment } from '../config/environment.ts';
import type { Preloads } from '../config/preloads.ts';
import type { Config } from '../config/schema.ts';
import { fail } from '../ports/failure.ts';
import type { Preflight } from '../ports/preflight.ts';
import type { Rollouts } from '../ports/rollouts.ts';
import { folderTasks, type Pack } from '../ports/task.ts';
import type { Agent } from '../rollout/agents/agent.ts';
import { LocalRollouts } from '../rollout/local/local-rollouts.ts';
import { unusedPreloads } from '../rollout/preloads/findings.ts';
import type { GatherOptions, PreloadOptions, SkillSources } from '../rollout/preloads/options.ts';
import { Preloading, wantedHash } from '../rollout/preloads/preloading.ts';
import { preloadPlaces, readRecord } from '../rollout/preloads/record.ts';
import { readSkill } from '../skill/document.ts';
import { skillFindings } from '../skill/findings.ts';
import { hashFiles, requireTree } from '../taskpack/tree.ts';
import { exampleName } from './bundled.ts';
import { noteNamed, redactor } from './secrets.ts';
import { readSkillFile } from './skill-file.ts';
import { skillFolder, sources } from './sources.ts';

/** Whose preloads they are, and where they lie. */
export type Preloaded = {
  /** Names of the skills that are measured. */
  readonly measured: readonly string[];
  /** Folder that their paths in the config start from. */
  readonly from: string;
  readonly dir: string;
  /** Those of a session whose preloads serve as well, where they fit; null = none. */
  readonly lender: string | null;
  readonly isNew: boolean;
};

/** For what preloads are made. */
export type PreloadsFor = Preloaded & { readonly config: Config; readonly pack: Pick<Pack, 'tasks'> };

/** Preloads of a session or an eval, looked at and not installed. */
export async function preloadsOf(
  of: PreloadsFor,
  agent: Agent,
  walls: Pick<PreloadOptions, 'walled' | 'hasWalls' | 'mark' | 'sweep' | 'show'>,
): Promise<Preloading> {
  const { config, pack } = of;
  return Preloading.look({
    ...of,
    ...gatheredFrom(of),
    ...walls,
    agent,
    network: config.sandbox.network,
    taskCommands: [...new Set(folderTasks(pack.tasks).flatMap((task) => task.commands))],
  });
}

/** Where the user's own files lie that preloads name. */
export function gatheredFrom({ config, from }: Pick<PreloadsFor, 'config' | 'from'>): Omit<GatherOptions, 'agent'> {
  noteNamed(config.preloads);
  const env = hostEnvironment();
  return {
    base: from,
    wanted: config.preloads,
    hostEnv: env,
    hostHome: env.HOME ?? homedir(),
    skills: skillSources(from, config.preloads),
    redact: redactor(),
  };
}

/** Preloads of a backend; null = it has none. */
export function preloadsIn(rollouts: Rollouts): Preloading | null {
  return rollouts instanceof LocalRollouts ? rollouts.preloads : null;
}

/** Something that has to be installed before the first rollout: what will be done, and the doing. */
export type Installing = {
  readonly plan: readonly string[];
  /** Returns what a person should know of it. */
  readonly install: (signal: AbortSignal) => Promise<readonly string[]>;
};

/** What a command does with them before it begins; `say` hears each step. */
export function installing(rollouts: Rollouts, say: (line: string) => void): Installing | null {
  const preloading = preloadsIn(rollouts);
  if (preloading === null) return null;
  const onStep = (name: string) => say(`preloads    ${name}`);
  return { plan: preloading.plan, install: (signal) => preloading.install({ onStep, signal }) };
}

/** Versions of what stands of a session's preloads, for whoever begins without installing. */
export function standingVersions(dir: string, { preloads, agent }: Config): Readonly<Record<string, string>> {
  const hash = wantedHash({ wanted: preloads, agent: { name: agentName(agent) } });
  const record = readRecord(preloadPlaces(dir, hash).record);
  return record?.wanted === hash ? record.versions : {};
}

/** What is wrong with them; where no agent takes any, they are refused. In Harbor its backend tells. */
export function preloadsUsed({ backend, preloads }: Config, rollouts: Rollouts): Preflight {
  const preloading = preloadsIn(rollouts);
  return {
    async preflight() {
      switch (backendKind(backend)) {
        case 'local':
          return (await preloading?.preflight()) ?? [];
        case 'harbor':
          return [];
        case 'chat':
          return unusedPreloads(preloads, backend);
      }
    },
  };
}

/** Other skills, read and copied as the seed is. */
function skillSources(base: string, preloads: Preloads): SkillSources {
  const { importSkill } = sources(base, () => {});
  const hashOf = async (folder: string) => hashFiles((await requireTree(folder, 'skill', undefined, 'SKILL.md')).files);
  return {
    hashOf,
    async look(given) {
      if (exampleName(given) !== null)
        throw fail(
          'config',
          `${given} is bundled, and other skills are yours`,
          'preloads.skills',
          'name the folder of a skill',
        );
      const folder = skillFolder(base, given);
      const path = join(folder, 'SKILL.md');
      const document = readSkill(readSkillFile(path), path);
      const odd = skillFindings(document, basename(folder)).filter((f) => f.level === 'error');
      return {
        name: document.name,
        description: document.description,
        hash: await hashOf(folder),
        oddities: odd.map((f) => f.what),
      };
    },
    copy: async (given, to) => void (await importSkill({ skill: given, preloads }, to)),
  };
}
