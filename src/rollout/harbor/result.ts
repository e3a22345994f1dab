import { unscored } from '../../ports/outcome.ts';
import type { RolloutReport, RolloutRequest } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import type { Trajectory } from '../../ports/trajectory.ts';
import { placesNamed } from '../trajectory.ts';
import { mountTrouble } from './agent-mounts.ts';
import { callsModel, type HarborOptions, harborAgentName } from './options.ts';
import { judge, usageOf } from './outcome.ts';
import type { LaidSkill } from './skills.ts';
import type { TrialResult } from './trial.ts';
import { evidenceOf } from './witness.ts';

/** What comes of a trial that has ended, by all its files. `cancelled` = Harbor was told to end it. */
export async function resultOf(
  folder: string,
  trial: TrialResult,
  o: {
    readonly request: RolloutRequest<FolderTask>;
    /** Null: the no-skill arm. */
    readonly laid: LaidSkill | null;
    readonly planted: string | null;
    readonly options: HarborOptions;
    readonly versions: Readonly<Record<string, string>>;
  },
): Promise<RolloutReport> {
  const { request, laid, planted, options, versions } = o;
  const { key, skill, task } = request;
  const agent = harborAgentName(options.agent);
  const asks = callsModel(options);
  const usage = usageOf(trial, asks);
  const { witness, trajectory } = await evidenceOf(folder, trial, {
    agent,
    instruction: task.instruction,
    task: task.dir,
    skill,
    laid,
  });
  const judged = judge(
    trial,
    { ...witness, planted },
    { passThreshold: options.passThreshold, hasSkill: skill !== null, callsModel: asks },
  );
  if (judged.kind === 'cancelled') return { kind: 'cancelled', key, usage };
  if (judged.kind === 'failed') return { kind: 'failed', key, failure: judged.failure, usage };
  const mount = hasBegun(trial) ? mountTrouble(options.mounted, trial.agent_info?.version) : null;
  const { exit } = judged;
  const named = placesNamed([
    { path: folder, name: '<trial>' },
    { path: task.dir, name: '<task>' },
  ]);
  const outcome =
    mount !== null
      ? unscored('agent-setup', mount)
      : judged.outcome.status === 'scored'
        ? judged.outcome
        : { ...judged.outcome, detail: named(judged.outcome.detail) };
  const seen = trial.agent_info?.version;
  return {
    kind: 'finished',
    key,
    result: {
      outcome,
      trajectory: outcome.status === 'scored' ? trajectory : withPlace(trajectory, folder),
      usage,
      exit,
      durationMs: durationOf(trial),
      versions: seen === null || seen === undefined || seen === '' ? versions : { ...versions, [agent]: seen },
    },
  };
}

/** The agent was set up: Harbor asked for its version. */
function hasBegun({ agent_execution }: TrialResult): boolean {
  return agent_execution !== null && agent_execution !== undefined;
}

/** True: the trial came to an outcome, whatever its skill was. False: it was cancelled, or met what another one would meet, too. */
export async function comesToOutcome(folder: string, trial: TrialResult, options: HarborOptions): Promise<boolean> {
  const agent = harborAgentName(options.agent);
  const { witness } = await evidenceOf(folder, trial, {
    agent,
    instruction: '',
    task: trial.task_id.path,
    skill: null,
    laid: null,
  });
  const { passThreshold } = options;
  const judged = judge(
    trial,
    { ...witness, planted: null },
    { passThreshold, hasSkill: false, callsModel: callsModel(options) },
  );
  return judged.kind === 'outcome';
}

/** Where Harbor's own files lie of a trial without a score: they are kept for a while. */
function withPlace(trajectory: Trajectory, folder: string): Trajectory {
  const text = `What Harbor wrote of this trial is kept for a while in ${folder}`;
  return { ...trajectory, steps: [...trajectory.steps, { kind: 'note', text }] };
}

/** The trial's whole time, setup and removal included. */
function durationOf({ started_at, finished_at }: TrialResult): number {
  const ms = Date.parse(finished_at ?? '') - Date.parse(started_at ?? '');
  return Number.isFinite(ms) && ms >= 0 ? ms : 0;
}
