import type { AgentTasks } from '../../ports/agent-task.ts';
import { type Failure, fail } from '../../ports/failure.ts';
import type { Outcome } from '../../ports/outcome.ts';
import type { Finding } from '../../ports/preflight.ts';
import type { RolloutProgress, RolloutReport, RolloutRequest, Rollouts } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import type { Agent } from '../agents/agent.ts';
import type { Preloading } from '../preloads/preloading.ts';
import { reportsOf } from '../report-queue.ts';
import { cutText, normalizedTrajectory, type Place, placesNamed, type RawTrajectory } from '../trajectory.ts';
import { createAgentTasks } from './agent-tasks.ts';
import { sweepSession } from './clean.ts';
import { failureToStart } from './errors.ts';
import { type Folders, placesOf } from './folders.ts';
import { isWorthKeeping, Keeper } from './keep.ts';
import { preparedOf } from './lay-preloads.ts';
import type { LocalOptions } from './options.ts';
import { performWork, type Work } from './perform.ts';
import { localPreflight, noConsent } from './preflight.ts';
import type { WorkspaceCopy } from './prepare.ts';
import { clear, type Raised, raise } from './raised.ts';

type PerformOptions = { readonly signal: AbortSignal; readonly onProgress?: (progress: RolloutProgress) => void };

/**
 * Task folders on this host without a container: fresh folders for each rollout, a clean environment, the walls of the
 * sandbox around agent and verifier, and nothing left behind. All requests of one call run side by side; the caller bounds how many.
 */
export class LocalRollouts implements Rollouts {
  readonly batches = false;
  readonly #options: LocalOptions;
  readonly #copies = new Map<string, Promise<readonly WorkspaceCopy[]>>();
  readonly #keeper: Keeper | null;
  #version: string | null = null;

  /** What does the tasks. */
  get agent(): Agent {
    return this.#options.agent;
  }

  /** What stands in its rollouts beside skill and task, to be installed before the first; null = nothing. */
  get preloads(): Preloading | null {
    return this.#options.preloads;
  }

  constructor(options: LocalOptions) {
    this.#options = options;
    this.#keeper = options.keep === null ? null : new Keeper(options.keep);
  }

  /** Its agent as something that can be given other work; `id` = agent and model as people name them. */
  agentTasks(id: string): AgentTasks {
    const { agent, agentAlone } = this.#options;
    return createAgentTasks({ ...this.#options, agent: agentAlone ?? agent, id });
  }

  preflight(): Promise<readonly Finding[]> {
    return localPreflight(this.#options);
  }

  async versions(): Promise<Readonly<Record<string, string>>> {
    this.#version ??= await this.#options.agent.version();
    const { agent, sandbox, preloads } = this.#options;
    return { [agent.name]: this.#version, sandbox: sandbox.version, ...preloads?.versions };
  }

  async sweep(): Promise<readonly string[]> {
    return sweepSession(this.#options.sessionId, this.#options.tempRoot);
  }

  performRollouts(requests: readonly RolloutRequest[], options: PerformOptions): AsyncIterable<RolloutReport> {
    return reportsOf(requests, options.signal, (request, signal) => this.#perform(request, signal, options));
  }

  async #perform(request: RolloutRequest, signal: AbortSignal, more: PerformOptions): Promise<RolloutReport> {
    const { key } = request;
    const startedAt = performance.now();
    if (signal.aborted) return { kind: 'cancelled', key };
    const refused = this.#refusal(request);
    if (refused !== null) return { kind: 'failed', key, failure: refused };
    if (!isOfFolder(request)) return { kind: 'failed', key, failure: notAFolder(request.task.id) };
    const onPhase = (phase: RolloutProgress['phase']) => more.onProgress?.({ key, phase });
    const copies = () => this.#copiesOf(request.task);

    let versions: Readonly<Record<string, string>>;
    let raised: Raised;
    try {
      versions = await this.versions();
      const show = [...this.#options.show, ...preparedOf(this.#options).show];
      raised = await raise({ ...this.#options, show }, { key, workdir: request.task.workdir, signal });
    } catch (error) {
      return { kind: 'failed', key, failure: failureToStart(error, this.#options.tempRoot) };
    }
    const { folders } = raised.walls;
    const work = await performWork({ request, folders, ...raised, options: this.#options, copies, onPhase });
    onPhase('clean');
    const problems = [await this.#keep(work, folders, request), await clear(raised)];

    switch (work.kind) {
      case 'cancelled':
        return { kind: 'cancelled', key, usage: work.usage };
      case 'failed':
        return { kind: 'failed', key, failure: work.failure, usage: work.usage };
      case 'done': {
        const { usage, exit } = work;
        const places = placesOf(folders);
        const outcome = keptOutcome(work.outcome, [...places, { path: request.task.dir, name: '<task>' }]);
        const trajectory = keptTrajectory(work.raw, places, problems);
        const durationMs = performance.now() - startedAt;
        return { kind: 'finished', key, result: { outcome, trajectory, usage, exit, durationMs, versions } };
      }
      default:
        return work satisfies never;
    }
  }

  /** Keeps what a failed rollout left. Returns why it could not, for people. */
  async #keep(work: Work, folders: Folders, { key, task }: RolloutRequest): Promise<string | null> {
    if (this.#keeper === null || work.kind !== 'done' || !isWorthKeeping(work.outcome)) return null;
    const problem = await this.#keeper.keep(folders, { key, task: task.id, outcome: work.outcome });
    return problem === null ? null : `The workspace of this rollout was not kept: ${problem}.`;
  }

  /** Why this rollout must not be started at all; null = it may. */
  #refusal(request: RolloutRequest): Failure | null {
    const { agent, sandbox, unsandboxedAllowed } = this.#options;
    const unasked = unsandboxedAllowed ? null : noConsent(sandbox);
    if (unasked !== null) return fail('preflight', unasked.what, 'backend local', unasked.fix).failure;
    if (request.skill !== null && !agent.takesSkill) {
      const what = `the agent ${agent.name} takes no skill, so none can be measured with it`;
      return fail('config', what, 'agent', 'choose an agent that takes a skill').failure;
    }
    return null;
  }

  #copiesOf(task: FolderTask): Promise<readonly WorkspaceCopy[]> {
    const known = this.#copies.get(task.hash);
    if (known !== undefined) return known;
    const asked = this.#options.prepareFiles(task);
    this.#copies.set(task.hash, asked);
    // A failure may be over at the next rollout, so it is not kept.
    asked.catch(() => this.#copies.delete(task.hash));
    return asked;
  }
}

function isOfFolder(request: RolloutRequest): request is RolloutRequest<FolderTask> {
  return request.task.kind === 'folder';
}

function notAFolder(task: string): Failure {
  const what = 'this task is an entry of a prompt pack, and the backend local runs task folders';
  return fail('config', what, `task ${task}`, 'set "backend": "chat"').failure;
}

function keptTrajectory(raw: RawTrajectory | null, places: readonly Place[], problems: readonly (string | null)[]) {
  if (raw === null) return null;
  const notes = problems.flatMap((text) => (text === null ? [] : [{ kind: 'note', text } as const]));
  return normalizedTrajectory({ ...raw, steps: [...raw.steps, ...notes] }, places);
}

/** A detail is a line for people: longer ones are messages of programs. */
const maxDetailLength = 2_000;

/** The outcome as it is kept: like a trajectory it names no folder of this machine. */
function keptOutcome(outcome: Outcome, places: readonly Place[]): Outcome {
  if (outcome.status === 'scored') return outcome;
  return { ...outcome, detail: cutText(placesNamed(places)(outcome.detail), maxDetailLength).text };
}
