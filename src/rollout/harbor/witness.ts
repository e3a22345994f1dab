import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Reading } from '../../ports/outcome.ts';
import type { MountedSkill } from '../../ports/rollouts.ts';
import type { Trajectory, TrajectoryStep } from '../../ports/trajectory.ts';
import type { CliReading, CliTrouble } from '../agents/cli/cli-kind.ts';
import { cliKinds } from '../agents/cli/kinds.ts';
import { readOutput } from '../agents/cli/output-file.ts';
import { normalizedTrajectory, type RawTrajectory } from '../trajectory.ts';
import { readAtif } from './atif.ts';
import type { Witness } from './outcome.ts';
import type { LaidSkill } from './skills.ts';
import type { TrialResult } from './trial.ts';

/** What the files of a trial say beside its result: what the agent did, whether it read the skill, what stopped it. */
export type Evidence = { readonly witness: Omit<Witness, 'planted'>; readonly trajectory: Trajectory };

/** Reads a finished trial's folder. Files that are not there, or not whole, say nothing. */
export async function evidenceOf(
  folder: string,
  trial: TrialResult,
  o: {
    readonly agent: string;
    readonly instruction: string;
    readonly skill: MountedSkill | null;
    readonly laid: LaidSkill | null;
  },
): Promise<Evidence> {
  const steps = trial.step_results?.map((step) => step.step_name ?? '').filter(isFolderName) ?? [];
  const places = steps.length === 0 ? [folder] : steps.map((name) => join(folder, 'steps', name));
  const parts = await Promise.all(places.map((place) => partOf(place, o)));
  const own = parts.flatMap((part) => part.steps);
  const raw: RawTrajectory = {
    agent: o.agent,
    steps:
      own[0]?.kind === 'message' && own[0].role !== 'agent'
        ? own
        : [{ kind: 'message', role: 'user', text: o.instruction }, ...own],
    finalText: parts.findLast((part) => part.finalText !== '')?.finalText ?? '',
    verifierOutput:
      parts
        .map((part) => part.verifierOutput ?? '')
        .join('\n')
        .trim() || null,
  };
  const told = trial.agent_result?.metadata?.skillopt_read;
  return {
    trajectory: normalizedTrajectory(raw, []),
    witness: {
      read: o.skill === null ? null : typeof told === 'boolean' ? told : anyRead(parts.map((part) => part.read)),
      trouble: parts.findLast((part) => part.trouble !== null)?.trouble ?? null,
      acted: parts.some((part) => part.acted === true)
        ? true
        : parts.every((part) => part.acted === null)
          ? null
          : false,
      injected: o.laid === null ? null : await isInjected(folder, o.laid),
    },
  };
}

type Part = {
  readonly steps: readonly TrajectoryStep[];
  readonly finalText: string;
  readonly read: Reading;
  readonly trouble: CliTrouble | null;
  readonly acted: boolean | null;
  readonly verifierOutput: string | null;
};

async function partOf(
  place: string,
  o: { readonly agent: string; readonly skill: MountedSkill | null },
): Promise<Part> {
  const logs = join(place, 'agent');
  const kind = cliKinds.find(({ name }) => name === o.agent);
  const log = kind === undefined ? null : await textOf(join(logs, `${kind.name}.txt`));
  const said: CliReading | null =
    kind === undefined || log === null
      ? null
      : kind.parse({ stdout: log, stderr: '', skillName: o.skill?.name ?? null });
  const atifText = await textOf(join(logs, 'trajectory.json'));
  const atif = atifText === null ? null : readAtif(atifText);
  const plain = said === null && atif === null ? await notesOf(logs) : [];
  const steps = atif?.steps ?? said?.steps ?? plain;
  return {
    steps,
    finalText: said?.finalText || atif?.finalText || '',
    read: said?.read ?? null,
    trouble: said?.trouble ?? null,
    acted:
      steps.some(
        (step) => step.kind === 'tool' || (step.kind === 'message' && step.role === 'agent') || step.kind === 'note',
      ) || null,
    verifierOutput: await textOf(join(place, 'verifier', 'test-stdout.txt')),
  };
}

/** Read in one of its steps is read. */
function anyRead(parts: readonly Reading[]): Reading {
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

const lock = z.object({ skills: z.array(z.object({ name: z.string(), digest: z.string() })).nullish() });

/** Does the trial's lock name the skill under test, byte for byte? Null = it says nothing of skills. */
async function isInjected(folder: string, laid: LaidSkill): Promise<boolean | null> {
  const text = await textOf(join(folder, 'lock.json'));
  if (text === null) return null;
  try {
    const { skills } = lock.parse(JSON.parse(text));
    return skills == null ? null : skills.some(({ digest }) => digest === laid.digest);
  } catch {
    return null;
  }
}

/** The text of a file that lay within an agent's reach; null = there is nothing in it. */
async function textOf(path: string): Promise<string | null> {
  return (await readOutput(path)) || null;
}

function isFolderName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/');
}
