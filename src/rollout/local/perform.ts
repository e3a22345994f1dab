import { join } from 'node:path';
import type { Failure } from '../../ports/failure.ts';
import { type ExitCause, type Outcome, unscored } from '../../ports/outcome.ts';
import type { RolloutProgress, RolloutRequest } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import { noUsage, type Usage } from '../../ports/usage.ts';
import { type AgentEnd, type AgentRun, noNeeds } from '../agents/agent.ts';
import { drawOf } from '../draw.ts';
import { type Prepared, withPrepared } from '../preloads/prepared.ts';
import { type ScriptPath, scriptOddities } from '../script-command.ts';
import type { RawTrajectory } from '../trajectory.ts';
import { taskPath } from '../why-not-started.ts';
import { exitOf, mayLieAtScript, outcomeOf, outcomeWithin, unscoredBeforeVerifier } from './collect.ts';
import { resolveVariables } from './environment.ts';
import { diskFull, failureOf, isDiskFull } from './errors.ts';
import type { Folders } from './folders.ts';
import { demandUnchanged, layPreloads, preparedOf } from './lay-preloads.ts';
import { modelSeat, told, witnessed } from './model-seat.ts';
import type { LocalOptions } from './options.ts';
import type { WorkspaceCopy } from './prepare.ts';
import { fillWorkspace } from './prepare.ts';
import { type AgentOutcome, runAgent } from './run.ts';
import { type Mount, mountSkill, skillChanged } from './skill-mount.ts';
import { clearStand, makePlaceholders, type Stand } from './stand.ts';
import { runVerifier } from './verify.ts';
import type { RolloutContext, RolloutWalls } from './walls.ts';

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
  readonly context: RolloutContext;
  readonly walls: RolloutWalls;
  readonly options: LocalOptions;
  readonly copies: () => Promise<readonly WorkspaceCopy[]>;
  readonly onPhase: (phase: RolloutProgress['phase']) => void;
};

/** The phases of a rollout between its folders' making and their removal. Never rejects. */
export async function performWork(rollout: Rollout): Promise<Work> {
  const bill: Bill = { usage: noUsage };
  try {
    return await phases(rollout, bill);
  } catch (error) {
    if (rollout.context.cancelled.aborted) return { kind: 'cancelled', ...spentBy(bill) };
    const failure = failureOf(error, rollout.options.tempRoot)?.failure;
    if (failure !== undefined) return { kind: 'failed', failure, ...spentBy(bill) };
    const outcome = unscored('environment', error instanceof Error ? error.message : String(error));
    return { kind: 'done', outcome, raw: null, usage: bill.usage, exit: 'not-started' };
  }
}

/** What the rollout has spent by now: it is told whatever it comes to. */
type Bill = { usage: Usage };

async function phases(rollout: Rollout, bill: Bill): Promise<Work> {
  const { request, folders, context, options, walls, onPhase } = rollout;
  const { task, skill } = request;
  const { agent: kind } = options;

  onPhase('prepare');
  const resolve = (env: Readonly<Record<string, string>>) => resolveVariables(env, options.variables, task.id);
  const forAll = resolve(task.env.environment);
  const forVerifier = { ...forAll, ...resolve(task.env.verifier) };
  await fillWorkspace(task, await rollout.copies(), folders);
  const inside = options.sandbox.ownPaths ? walls.places : null;
  const mount = skill === null ? null : await mountSkill(skill, folders, kind.skillMounts, inside);
  const prepared = preparedOf(options);
  const others = await layPreloads(prepared, folders, kind, inside);
  const mounts = [...(mount === null ? [] : [mount]), ...others];
  const needs = (await kind.needs?.()) ?? noNeeds;
  const view = walls.agentView({
    readOnly: mounts.flatMap((m) => m.readOnly),
    needs,
    callsModel: kind.speaks !== undefined,
  });
  const stand = makePlaceholders(folders.root, options.sandbox.placeholders(view));
  if (context.cancelled.aborted) return { kind: 'cancelled' };

  onPhase('agent');
  const timeoutMs = (task.agentTimeoutSec ?? options.defaultAgentTimeoutSec) * 1000;
  const at = modelSeat(options, {
    rollout: request.key,
    skill,
    folders,
    signal: context.cancelled,
    timeoutMs,
    origin: options.sandbox.gatewayOrigin(view),
  });
  const watch = await walls.watch();
  const billed = {
    run: async (run: AgentRun) => {
      const end = await kind.run(run);
      bill.usage = end.usage;
      return end;
    },
  };
  const ran = await runAgent(
    billed,
    {
      ...walls.seat(),
      model: at?.model ?? null,
      skillDir: mount?.inside ?? null,
      ...(others.length === 0 ? {} : { otherSkills: others.map((m) => m.inside) }),
      instruction: task.instruction,
      env: withPrepared(walls.environment(view, forAll, needs.path), prepared, 'agent'),
      task,
      draw: drawOf(request),
      timeoutMs,
    },
    walls.enter(context, view, watch),
    at?.lease ?? null,
    watch?.over ?? null,
  ).finally(async () => {
    watch?.stop();
    await at?.lease.close();
    if (at !== null) bill.usage = at.lease.report().usage;
  });
  const reached = (await watch?.end()) ?? [];
  const seen = at === null ? told(ran.end) : witnessed(ran.end, at, skill !== null, kind.skillMounts.length > 0);
  bill.usage = seen.kind === 'end' ? seen.end.usage : seen.usage;
  if (context.cancelled.aborted) return { kind: 'cancelled', ...spentBy(bill) };
  if (seen.kind === 'failed') return seen;
  const agent: AgentOutcome = { ...ran, end: withNotes(seen.end, reached) };
  try {
    const stands = [...mounts.map((m) => m.stand), stand];
    const judged = await judge(rollout, agent, { mount, stands, env: forVerifier, prepared });
    if (options.sandbox.kind === 'none') demandUnchanged(prepared);
    return judged;
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

/** What judging needs to know beside the agent's end. */
type Judged = {
  readonly mount: Mount | null;
  /** What stood in the rollout's folders for the agent alone. */
  readonly stands: readonly Stand[];
  /** The task's variables for its verifier. */
  readonly env: Readonly<Record<string, string>>;
  readonly prepared: Prepared;
};

/** From the agent's end to the outcome. */
async function judge(rollout: Rollout, agent: AgentOutcome, judged: Judged): Promise<Work> {
  const { mount, stands, prepared } = judged;
  const { request, folders, context, options, walls, onPhase } = rollout;
  const { task, skill } = request;
  // What the agent left running must be gone before the tests come into being.
  await walls.reap(context.mark);
  if (context.cancelled.aborted) return { kind: 'cancelled', ...spentBy(agent.end) };
  const changed = mount !== null && skillChanged(mount);
  // what was made first may hold what came later
  for (const stand of stands.toReversed()) clearStand(folders.root, stand);

  const early = unscoredBeforeVerifier(agent, changed);
  if (early !== null) return workOf(rollout, agent, early, null);

  onPhase('verifier');
  const view = walls.verifierView();
  const environment = () => withPrepared(walls.environment(view, judged.env), prepared, 'verifier');
  const watch = await walls.watch();
  const verifier = await runVerifier(task, folders, walls.places, () => {
    makePlaceholders(folders.root, options.sandbox.placeholders(view));
    return { context: walls.enter(context, view, watch), env: environment() };
  }).finally(() => watch?.stop());
  const reached = (await watch?.end()) ?? [];
  if (context.cancelled.aborted) return { kind: 'cancelled', ...spentBy(agent.end) };
  const ownPath = taskPath(task.env.environment, task.env.verifier);
  const outcome = outcomeOf(agent, verifier, {
    hasSkill: skill !== null,
    passThreshold: options.passThreshold,
    ownPath,
  });
  const output = verifier.kind === 'ended' ? verifier.end.stdout : null;
  const path: ScriptPath = {
    path: environment().PATH,
    ownPath,
    exists: (file) => options.sandbox.hostPathOf(file, view) !== null,
  };
  const within = outcomeWithin(await explained(outcome, task, path), reached);
  const ofVerifier = reached.map((text) => `The verifier: ${text}`);
  return workOf(rollout, { ...agent, end: withNotes(agent.end, ofVerifier) }, within, output);
}

function withNotes(end: AgentEnd, notes: readonly string[]): AgentEnd {
  return { ...end, steps: [...end.steps, ...notes.map((text) => ({ kind: 'note', text }) as const)] };
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
    return { kind: 'failed', failure: diskFull(rollout.options.tempRoot).failure, ...spentBy(agent.end) };
  }
  const { exit, steps, finalText, usage } = agent.end;
  const raw = exit === 'not-started' ? null : { agent: rollout.options.agent.name, steps, finalText, verifierOutput };
  return { kind: 'done', outcome, raw, usage, exit: exitOf(agent) };
}
