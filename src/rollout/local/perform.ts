import { join } from 'node:path';
import type { Failure } from '../../ports/failure.ts';
import { type ExitCause, type Outcome, unscored } from '../../ports/outcome.ts';
import type { RolloutProgress, RolloutRequest } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import { noUsage, type Usage } from '../../ports/usage.ts';
import { drawOf } from '../draw.ts';
import { type ScriptPath, scriptOddities } from '../script-command.ts';
import type { RawTrajectory } from '../trajectory.ts';
import { taskPath } from '../why-not-started.ts';
import { reapRollout } from './clean.ts';
import { exitOf, mayLieAtScript, outcomeOf, unscoredBeforeVerifier } from './collect.ts';
import { cleanEnvironment, resolveVariables } from './environment.ts';
import { diskFull, failureOf, isDiskFull } from './errors.ts';
import type { Folders } from './folders.ts';
import type { LaunchContext } from './launch.ts';
import { modelSeat, told, witnessed } from './model-seat.ts';
import type { LocalOptions, WorkspaceCopy } from './options.ts';
import { fillWorkspace } from './prepare.ts';
import { type AgentOutcome, runAgent } from './run.ts';
import { type Mount, mountSkill, skillChanged, unlinkSkill } from './skill-mount.ts';
import { runVerifier } from './verify.ts';

/** What one rollout came to. `raw` is null when nothing ran. */
export type Work =
  | {
      readonly kind: 'done';
      readonly outcome: Outcome;
      readonly raw: RawTrajectory | null;
      readonly usage: Usage;
      readonly exit: ExitCause;
    }
  | { readonly kind: 'cancelled'; readonly usage?: Usage }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly usage?: Usage };

/** All that one rollout is made of. */
export type Rollout = {
  readonly request: RolloutRequest<FolderTask>;
  readonly folders: Folders;
  readonly context: LaunchContext;
  readonly options: LocalOptions;
  readonly copies: () => Promise<readonly WorkspaceCopy[]>;
  readonly onPhase: (phase: RolloutProgress['phase']) => void;
};

/** The phases of a rollout between its folders' making and their removal. Never rejects. */
export async function performWork(rollout: Rollout): Promise<Work> {
  try {
    return await phases(rollout);
  } catch (error) {
    if (rollout.context.cancelled.aborted) return { kind: 'cancelled' };
    const failure = failureOf(error, rollout.options.tempRoot)?.failure;
    if (failure !== undefined) return { kind: 'failed', failure };
    const outcome = unscored('environment', error instanceof Error ? error.message : String(error));
    return { kind: 'done', outcome, raw: null, usage: noUsage, exit: 'not-started' };
  }
}

async function phases(rollout: Rollout): Promise<Work> {
  const { request, folders, context, options, onPhase } = rollout;
  const { task, skill } = request;

  onPhase('prepare');
  const resolve = (env: Readonly<Record<string, string>>) => resolveVariables(env, options.variables, task.id);
  const forAll = resolve(task.env.environment);
  const forVerifier = { ...forAll, ...resolve(task.env.verifier) };
  await fillWorkspace(task, await rollout.copies(), folders);
  const mount = skill === null ? null : await mountSkill(skill, folders, options.agent.skillMounts);
  if (context.cancelled.aborted) return { kind: 'cancelled' };

  onPhase('agent');
  const at = modelSeat(options, {
    rollout: request.key,
    skill,
    folders,
    signal: context.cancelled,
    origin: null,
  });
  const ran = await runAgent(
    options.agent,
    {
      workspace: folders.workspace,
      home: folders.home,
      host: { workspace: folders.workspace, home: folders.home, logDir: folders.agentLogs },
      model: at?.model ?? null,
      skillDir: mount?.dir ?? null,
      instruction: task.instruction,
      logDir: folders.agentLogs,
      env: cleanEnvironment(options.hostEnv, forAll, folders),
      task,
      draw: drawOf(request),
      timeoutMs: (task.agentTimeoutSec ?? options.defaultAgentTimeoutSec) * 1000,
    },
    context,
    at?.lease ?? null,
  ).finally(() => at?.lease.close());
  const seen = at === null ? told(ran.end) : witnessed(ran.end, at, skill !== null);
  if (context.cancelled.aborted) return { kind: 'cancelled', ...spentBy(seen.kind === 'end' ? seen.end : seen) };
  if (seen.kind === 'failed') return seen;
  const agent: AgentOutcome = { ...ran, end: seen.end };
  try {
    return await judge(rollout, agent, mount, cleanEnvironment(options.hostEnv, forVerifier, folders));
  } catch (error) {
    if (context.cancelled.aborted || failureOf(error, '') !== null) throw error;
    // The agent ran: what it did is kept, whatever became of its verdict.
    return workOf(rollout, agent, outcomeOfError(error, folders), null);
  }
}

/** What a rollout without an outcome has spent; nothing is said where no model was asked. */
function spentBy({ usage }: { readonly usage: Usage }): { readonly usage?: Usage } {
  return usage.requests === 0 ? {} : { usage };
}

/** From the agent's end to the outcome. */
async function judge(
  rollout: Rollout,
  agent: AgentOutcome,
  mount: Mount | null,
  env: Readonly<Record<string, string>>,
): Promise<Work> {
  const { request, folders, context, options, onPhase } = rollout;
  const { task, skill } = request;
  // What the agent left running must be gone before the tests come into being.
  await reapRollout(context.mark);
  if (context.cancelled.aborted) return { kind: 'cancelled', ...spentBy(agent.end) };
  const changed = mount !== null && skillChanged(mount);
  if (mount !== null) await unlinkSkill(mount);

  const early = unscoredBeforeVerifier(agent, changed);
  if (early !== null) return workOf(rollout, agent, early, null);

  onPhase('verifier');
  const verifier = await runVerifier(task, folders, env, context);
  if (verifier.kind === 'ended' && verifier.end.cause === 'cancelled')
    return { kind: 'cancelled', ...spentBy(agent.end) };
  const ownPath = taskPath(task.env.environment, task.env.verifier);
  const outcome = outcomeOf(agent, verifier, {
    hasSkill: skill !== null,
    passThreshold: options.passThreshold,
    ownPath,
  });
  const output = verifier.kind === 'ended' ? verifier.end.stdout : null;
  return workOf(rollout, agent, await explained(outcome, task, { path: env.PATH, ownPath }), output);
}

/** The outcome with what strikes the eye about the test script, where that may be at fault. */
async function explained(outcome: Outcome, task: FolderTask, path: ScriptPath): Promise<Outcome> {
  if (outcome.status === 'scored' || !mayLieAtScript(outcome)) return outcome;
  const oddities = await scriptOddities(join(task.dir, 'tests', 'test.sh'), 'tests/test.sh', path);
  return unscored(outcome.reason, [outcome.detail, ...oddities].join('; '));
}

/** An exception after the agent's end. What is wrong with the rollout's own folders is the agent's doing. */
function outcomeOfError(error: unknown, folders: Folders): Outcome {
  const { path, message } = error as NodeJS.ErrnoException;
  const detail = message ?? String(error);
  return path !== undefined && `${path}/`.startsWith(`${folders.root}/`)
    ? unscored('tampered', `the agent left something in the way of the verifier: ${detail}`)
    : unscored('environment', detail);
}

async function workOf(
  rollout: Rollout,
  agent: AgentOutcome,
  outcome: Outcome,
  verifierOutput: string | null,
): Promise<Work> {
  // Work on a full disk proves nothing, unless it passed all the same.
  const passed = outcome.status === 'scored' && outcome.hard === 1;
  if (!passed && (await isDiskFull(rollout.folders.root))) {
    return { kind: 'failed', failure: diskFull(rollout.options.tempRoot).failure };
  }
  const { exit, steps, finalText, usage } = agent.end;
  const raw = exit === 'not-started' ? null : { agent: rollout.options.agent.name, steps, finalText, verifierOutput };
  return { kind: 'done', outcome, raw, usage, exit: exitOf(agent) };
}
