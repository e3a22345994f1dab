import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reading } from '../../ports/outcome.ts';
import type { MountedSkill } from '../../ports/rollouts.ts';
import type { Trajectory, TrajectoryStep } from '../../ports/trajectory.ts';
import type { CliKind, CliReading, CliTrouble } from '../agents/cli/cli-kind.ts';
import { cliKinds } from '../agents/cli/kinds.ts';
import { readOutput } from '../agents/cli/output-file.ts';
import { normalizedTrajectory } from '../trajectory.ts';
import { type AtifReading, readAtif } from './atif.ts';
import type { Witness } from './outcome.ts';
import { readInSteps } from './reading.ts';
import { isInjected, type LaidSkill } from './skills.ts';
import { partsOf, type TrialPart, type TrialResult } from './trial.ts';

/** What the files of a trial say beside its result: what the agent did, whether it read the skill, what stopped it. */
export type Evidence = { readonly witness: Omit<Witness, 'planted'>; readonly trajectory: Trajectory };

type EvidenceOptions = {
  /** The agent as it was asked for; Harbor tells the name of what it runs. */
  readonly agent: string;
  readonly instruction: string;
  /** Folder of the task. */
  readonly task: string;
  readonly skill: MountedSkill | null;
  readonly laid: LaidSkill | null;
};

/** Reads a finished trial's folder. Files that are not there, or not whole, say nothing. */
export async function evidenceOf(folder: string, trial: TrialResult, o: EvidenceOptions): Promise<Evidence> {
  const agent = trial.agent_info?.name ?? o.agent;
  const kind = cliKinds.find(({ name }) => name === agent) ?? null;
  const parts = await Promise.all(
    partsOf(trial).map((part) => {
      const { step_name: step } = part;
      return isEntryName(step) ? seenIn(join(folder, 'steps', step), part, kind, o) : seenIn(folder, part, kind, o);
    }),
  );
  const outputs = parts.flatMap(({ verifierOutput }) => verifierOutput ?? []);
  return {
    trajectory: normalizedTrajectory(
      {
        agent,
        steps: [{ kind: 'message', role: 'user', text: o.instruction }, ...parts.flatMap(({ steps }) => steps)],
        finalText: parts.findLast(({ finalText }) => finalText !== '')?.finalText ?? '',
        verifierOutput: outputs.length === 0 ? null : outputs.join('\n'),
      },
      [
        { path: folder, name: '<trial>' },
        { path: o.task, name: '<task>' },
      ],
    ),
    witness: {
      read: o.skill === null ? null : readByAny(parts.map(({ read }) => read)),
      trouble: worst(parts.flatMap(({ trouble }) => trouble ?? [])),
      acted: parts.some(({ steps }) => steps.some(({ kind }) => kind === 'tool'))
        ? true
        : parts.some(({ steps }) => steps.length > 0)
          ? null
          : false,
      injected: o.laid === null ? null : await isInjected(folder, o.laid),
    },
  };
}

type Seen = {
  readonly steps: readonly TrajectoryStep[];
  readonly finalText: string;
  readonly read: Reading;
  readonly trouble: CliTrouble | null;
  readonly verifierOutput: string | null;
};

/**
 * What one run of the agent left. The log of an agent that is known is read as everywhere else in this program: its
 * trajectory in Harbor's format says less (no exit codes) and mixes notes of its own into what tools gave. That one speaks
 * for all other agents, and where there is no log.
 */
async function seenIn(
  place: string,
  part: TrialPart,
  kind: CliKind | null,
  { skill }: Pick<EvidenceOptions, 'skill'>,
): Promise<Seen> {
  const logs = join(place, 'agent');
  const said = kind === null ? null : await saidIn(logs, kind, skill);
  const byLog = said !== null && said.steps.length > 0 ? said : null;
  const atif = byLog === null ? await atifIn(logs) : null;
  const steps = byLog?.steps ?? atif?.steps ?? (kind === null ? await notesOf(logs) : []);
  const told = part.agent_result?.metadata?.skillopt_read;
  const shown = skill === null || atif === null ? null : readInSteps(steps, skill.text);
  const trouble = said === null ? null : troubleIn(said, part);
  return {
    steps:
      trouble?.kind === 'limit'
        ? [...steps, { kind: 'note', text: `It stopped at a limit: ${trouble.detail}` }]
        : steps,
    finalText: said?.finalText || atif?.finalText || '',
    read: typeof told === 'boolean' ? told : (said?.read ?? shown),
    trouble,
    verifierOutput: await textOf(join(place, 'verifier', 'test-stdout.txt')),
  };
}

/** Where agents write what they meet while they try again, beside what they say. */
const ownLogs: Readonly<Record<string, string>> = { opencode: 'opencode/xdg-data/opencode/log/opencode.log' };

/** The log holds what the agent wrote to both its outputs. */
async function saidIn(logs: string, kind: CliKind, skill: MountedSkill | null): Promise<CliReading | null> {
  const log = (await textOf(join(logs, `${kind.name}.txt`))) ?? '';
  const own = ownLogs[kind.name];
  const beside = own === undefined ? '' : ((await textOf(join(logs, own))) ?? '');
  if (log === '' && beside === '') return null;
  return kind.parse({ stdout: log, stderr: `${beside}\n${log}`, skillName: skill?.name ?? null });
}

/** Most files that one trajectory may go on over. */
const mostParts = 50;

/** Harbor's trajectory of an agent, with the files that it goes on in; null = there is none that can be read. */
async function atifIn(logs: string): Promise<AtifReading | null> {
  const parts: AtifReading[] = [];
  for (let name: string | null = 'trajectory.json'; isEntryName(name) && parts.length < mostParts; ) {
    const part: AtifReading | null = readAtif((await textOf(join(logs, name))) ?? '');
    if (part === null) break;
    parts.push(part);
    name = part.next;
  }
  const last = parts.at(-1);
  return last === undefined ? null : { ...last, steps: parts.flatMap(({ steps }) => steps) };
}

/** An agent whose process failed before it came to its own end broke down in the middle of its work. */
function troubleIn({ trouble, ended }: CliReading, { exception_info: met }: TrialPart): CliTrouble | null {
  const isTimeUp = met?.exception_type === 'AgentTimeoutError';
  if (trouble !== null) return isTimeUp && trouble.kind === 'crash' ? null : trouble;
  if (ended || met?.exception_type !== 'NonZeroAgentExitCodeError') return null;
  return { kind: 'crash', detail: 'its process failed before it came to its end' };
}

const lasting: ReadonlySet<CliTrouble['kind']> = new Set(['auth', 'quota', 'model-not-found']);

/** Of the troubles of all steps the one that says most of the next trial. */
function worst(troubles: readonly CliTrouble[]): CliTrouble | null {
  return (
    troubles.find(({ kind }) => lasting.has(kind)) ??
    troubles.find(({ kind }) => kind !== 'limit') ??
    troubles[0] ??
    null
  );
}

/** Read in one of its steps is read. */
function readByAny(parts: readonly Reading[]): Reading {
  if (parts.includes(true)) return true;
  return parts.length > 0 && parts.every((read) => read === false) ? false : null;
}

/** What an agent that this program does not know wrote into its logs, as it stands. */
async function notesOf(logs: string): Promise<readonly TrajectoryStep[]> {
  const found = await readdir(logs, { withFileTypes: true }).catch(() => []);
  const names = found.filter((entry) => entry.isFile()).map(({ name }) => name);
  const texts = await Promise.all(
    names.sort().map(async (name) => ({ name, text: (await textOf(join(logs, name))) ?? '' })),
  );
  return texts.flatMap(({ name, text }) =>
    text.trim() === '' ? [] : [{ kind: 'note' as const, text: `${name}:\n${text.trimEnd()}` }],
  );
}

/** The text of a file that lay within an agent's reach; null = there is nothing in it. */
async function textOf(path: string): Promise<string | null> {
  return (await readOutput(path)) || null;
}

/** A name of an entry of a folder, and no way out of it. */
function isEntryName(name: string | null | undefined): name is string {
  return name != null && name !== '' && name !== '.' && name !== '..' && !name.includes('/');
}
