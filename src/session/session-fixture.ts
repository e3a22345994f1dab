import { RulebookWorld, unit, type WorldConfig } from '../bench/rulebook-world.ts';
import { checkConfig } from '../config/load.ts';
import { type FinalizeResult, finalize } from '../engine/finalize.ts';
import { type LoopResult, optimize } from '../engine/loop.ts';

import type { LoggedEvent, PlanFixed } from '../events/events.ts';

import { Fold } from '../events/fold.ts';
import type { RunState } from '../events/run-state.ts';
import { Journal, readText } from '../journal/journal.ts';
import { TextMemory } from '../journal/journal-fixture.ts';
import { makeRedactor } from '../journal/redact.ts';
import { sha256, shortHash } from '../ports/hash.ts';
import type { InputSource, Limits } from '../ports/inputs.ts';
import type { ProposalResult, Proposals } from '../ports/proposals.ts';
import type { RolloutReport, RolloutRequest, Rollouts } from '../ports/rollouts.ts';
import type { Task } from '../ports/task.ts';
import { noUsage, type Usage } from '../ports/usage.ts';
import { ActualLedger, reserves } from './actual-ledger.ts';
import { performBatch } from './batch-fixture.ts';
import { createdEvent, loopPlan, nextLook, planEvent, splitsEvent } from './first-lines.ts';
import { Hold } from './hold.ts';
import type { Live } from './live.ts';
import { Logged } from './logged.ts';
import { RecordedPorts } from './recorded-ports.ts';
import { deliverable, sessionOps } from './replay.ts';
import type { Slots } from './slots.ts';
import { VirtualClock } from './virtual-clock-fixture.ts';

export type Play = {
  readonly world: Partial<WorldConfig>;
  readonly budget: number;
  readonly gate?: PlanFixed['gate']['rule'];
  readonly metric?: PlanFixed['gate']['metric'];
  readonly workers?: number;
  /** Workers and time that several sessions share; whoever shares a clock drives it. */
  readonly slots?: Slots;
  readonly clock?: VirtualClock;
  /** Hears +1 and −1 when a rollout begins and ends. */
  readonly onWork?: (more: 1 | -1) => void;
  /** Virtual ms of a rollout by its key; default 0. */
  readonly latency?: (key: string) => number;
  readonly optimizerMs?: number;
  readonly limits?: Limits;
  /** What a rollout and a call of the optimizer's model spend; default: nothing, and no model is called. */
  readonly spends?: { readonly rollout: (key: string) => Usage; readonly call: Usage };
  /** Default: a small draft and few dry rounds, so that short sessions hold all kinds of decisions. */
  readonly search?: PlanFixed['search'];
  /** Further keys of the config. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Stamps of the lines; default: all alike. */
  readonly now?: () => string;
  readonly inputs?: InputSource;
  /** Goes on from this log. */
  readonly log?: string;
  readonly texts?: TextMemory;
  readonly finalize?: boolean;
  readonly beforeWrite?: (line: string) => void;
  /** Reports of the backend before they are handed on. */
  readonly meddle?: (report: RolloutReport, request: RolloutRequest) => RolloutReport;
  readonly proposals?: Proposals;
  readonly leaks?: Live['leaks'];
  readonly batches?: boolean;
  /** Hears each call of the backend. */
  readonly onBatch?: (requests: readonly RolloutRequest[], concurrency: number | undefined) => void;
  /** What the backend knows of an earlier process; default: nothing. */
  readonly recover?: NonNullable<Rollouts['recover']>;
  readonly drift?: Live['drift'];
  readonly signal?: AbortSignal;
  readonly hold?: Hold;
  readonly resets?: Live['resets'];
};

export type Played = {
  readonly loop: LoopResult;
  readonly final: FinalizeResult | null;
  readonly log: string;
  readonly performed: readonly string[];
  readonly dispatched: readonly string[];
  readonly state: RunState;
  readonly texts: TextMemory;
  readonly started: number;
  readonly virtualMs: number;
};

const defaults: WorldConfig = { seed: 1, rules: 8, train: 6, selection: 6, test: 6, pHi: 0.95, pLo: 0.05, infra: 0 };

/** A task folder that only its id tells from others. */
export function taskOf(id: string): Task {
  return {
    kind: 'folder',
    id,
    dir: '/nowhere',
    hash: sha256(`task ${id}`),
    instruction: `do ${id}`,
    instructionHash: sha256(`do ${id}`),
    agentTimeoutSec: null,
    shouldTrigger: null,
    verifierTimeoutSec: 10,
    workdir: '/app',
    commands: [],
    env: { environment: {}, verifier: {}, solution: {} },
    hasSolution: true,
  };
}

/** A whole session over a simulated world, in memory: the real engine, recorded ports, pool and journal. */
export async function play(o: Play): Promise<Played> {
  const world = new RulebookWorld({ ...defaults, ...o.world });
  const clock = o.clock ?? new VirtualClock();
  const texts = o.texts ?? new TextMemory();
  const journal = Journal.memory(o.log ?? '', {
    ...(o.now && { now: o.now }),
    ...(o.beforeWrite && { beforeWrite: o.beforeWrite }),
  });
  const fold = new Fold();
  const { logged } = Logged.read(journal.read(), ({ event }) => fold.add(event));
  journal.onAppend((event: LoggedEvent) => fold.add(event));
  const ids = (split: 'train' | 'selection' | 'test') =>
    Array.from({ length: world.config[split] }, (_, i) => `${split}-${i}`);
  const tasks = [...ids('train'), ...ids('selection'), ...ids('test')].map(taskOf);
  const config = checkConfig(
    {
      skill: 'world',
      pack: 'world',
      agent: 'simulated',
      optimizer: 'simulated',
      splits: { train: ids('train'), selection: ids('selection'), test: ids('test') },
      budget: { rollouts: o.budget },
      gate: { rule: o.gate ?? 'balanced', metric: o.metric ?? 'hard' },
      search: o.search ?? { draftSize: 3, dryRounds: 4, memory: true },
      limits: o.limits ?? { rollouts: null, minutes: null },
      ...o.config,
    },
    'test',
  );
  const write = <E extends Parameters<Journal['append']>[0]>(event: E): E => {
    journal.append(event);
    return event;
  };
  logged.created ??= write(
    createdEvent({
      session: 'sim',
      program: 'test',
      config,
      skill: { name: 'rulebook', text: world.seedText, bundle: '', files: [], from: 'world' },
      pack: { name: 'world', dir: '/nowhere', hash: 'p', tasks },
      file: { budget: config.budget.rollouts, limits: config.limits },
      versions: {},
    }),
  );
  logged.splits ??= write(splitsEvent(logged.created));
  logged.plan ??= write(planEvent(logged.created, logged.splits));
  const plan = loopPlan(logged.created, logged.splits, logged.plan);

  const dispatched: string[] = [];
  const rollouts: Rollouts = {
    batches: o.batches ?? false,
    preflight: async () => [],
    sweep: async () => [],
    versions: async () => ({}),
    ...(o.recover && { recover: o.recover }),
    async *performRollouts(requests, options) {
      for (const request of requests) dispatched.push(request.key);
      o.onBatch?.(requests, options.concurrency);
      if (o.batches) yield* performBatch(requests, options, perform);
      else for (const request of requests) yield await perform(request);
    },
  };
  const perform = async (request: RolloutRequest): Promise<RolloutReport> => {
    o.onWork?.(1);
    const slept = !o.latency || (await clock.sleep(o.latency(request.key), request.signal));
    o.onWork?.(-1);
    if (!slept) return { kind: 'cancelled', key: request.key };
    const text = request.skill?.text ?? '';
    const outcome = world.outcome(
      {
        key: request.key,
        skill: request.skill?.hash ?? 'none',
        task: request.task.id,
        attempt: request.attempt,
        try: request.try,
      },
      text,
    );
    const report: RolloutReport = {
      kind: 'finished',
      key: request.key,
      result: {
        outcome,
        trajectory: {
          agent: 'simulated',
          steps: [],
          finalText: `ran with ${sha256(text)}\n${text}`,
          cut: 0,
          verifier: { output: 'secret' },
        },
        usage: o.spends?.rollout(request.key) ?? noUsage,
        exit: 'finished',
        durationMs: o.latency?.(request.key) ?? 0,
        versions: {},
      },
    };
    return o.meddle?.(report, request) ?? report;
  };
  logged.lose(write, await logged.recovered(rollouts));
  const proposals: Proposals = o.proposals ?? {
    preflight: async () => [],
    async performProposal(request, options): Promise<ProposalResult> {
      if (o.spends) options.onCall({ model: 'simulated', usage: o.spends.call, durationMs: 0, problem: null });
      if (o.optimizerMs !== undefined) await clock.sleep(o.optimizerMs);
      const ask = {
        key: request.key,
        round: request.round,
        skill: '',
        atMost: request.atMost,
        notes: [],
        banned: [],
        failing: request.failing.map((f) => ({ task: f.task, rollout: f.rollout })),
        passing: [],
        tried: request.kind === 'slow-update' ? request.tried : [],
        refused: request.kind === 'slow-update' ? request.refused : [],
      };
      const textOf = (rollout: string) =>
        request.failing
          .find((f) => f.rollout === rollout)
          ?.trajectory.finalText.split('\n')
          .slice(1)
          .join('\n') ?? '';
      const edits =
        request.kind === 'slow-update' ? world.guide(ask, request.text) : world.propose(ask, request.text, textOf);
      return { kind: 'proposal', proposal: { edits, summary: 'simulated' }, usage: noUsage, durationMs: 0 };
    },
  };
  const workers = o.workers ?? 1;
  const ops = sessionOps(logged.created ?? { skill: { text: world.seedText, files: [] }, config: {} });
  const ledger = new ActualLedger(
    config.limits,
    reserves({ selection: plan.selection.length, test: plan.test.length, attempts: 1, workers }),
    logged.started,
    fold.state.minutes,
    () => clock.now,
    logged.spending,
  );
  const ports = new RecordedPorts(logged, {
    journal,
    rollouts,
    proposals,
    workers,
    slots: o.slots,
    task: taskOf,
    skill: (text) => ({ name: 'rulebook', hash: shortHash(text), text, bundleDir: null }),
    texts,
    redact: makeRedactor([]),
    ops,
    leaks: o.leaks ?? (async () => () => null),
    ledger,
    backoffMs: [0],
    inputs: o.inputs ?? (() => []),
    drift: o.drift ?? null,
    signal: o.signal ?? new AbortController().signal,
    hold: o.hold ?? new Hold(),
    resets: o.resets,
  });
  const work = (async () => {
    try {
      const loop = await optimize(plan, ports, ops);
      const virtualMs = clock.now;
      const final =
        o.finalize && deliverable(loop, plan)
          ? await finalize(plan, ports, loop, { look: logged.created ? nextLook(logged.created) : 1, attempts: 1 })
          : null;
      ports.forgo();
      return { loop, final, virtualMs };
    } finally {
      await ports.drain();
      ports.close();
    }
  })();
  const end =
    o.clock === undefined && (o.latency || o.optimizerMs !== undefined) ? await clock.drive(work) : await work;
  return {
    ...end,
    log: journal.text(),
    performed: ports.performed,
    dispatched,
    state: fold.state,
    texts,
    started: ledger.started,
  };
}

/** Runs to its end or to what ends it; the log as it stands then. */
export async function until(o: Play): Promise<{ readonly log: string; readonly error: unknown }> {
  const lines: string[] = [];
  try {
    const { log } = await play({ ...o, beforeWrite: (line) => lines.push(line) });
    return { log, error: null };
  } catch (error) {
    return { log: (o.log ?? '') + lines.map((l) => `${l}\n`).join(''), error };
  }
}

/** What must be the same however a run was cut: decisions, best skill, score table, test number. */
export function essence(p: Pick<Played, 'log' | 'loop' | 'final' | 'state'>) {
  return {
    decisions: readText(p.log)
      .lines.filter((l) => 'consumed' in l.event)
      .map((l) => l.body),
    best: p.state.skills.get(p.state.incumbent)?.text,
    table: p.state.steps.map(({ at: _at, seq: _seq, prev: _prev, ...row }: Record<string, unknown>) => row),
    loop: p.loop,
    final: p.final,
  };
}

/** The first `n` whole lines of a log. */
export const firstLines = (log: string, n: number): string =>
  log
    .split('\n')
    .slice(0, n)
    .map((l) => `${l}\n`)
    .join('');

export const randomLatency = (seed: string) => (key: string) => 1 + 100 * unit('latency', seed, key);

/** Scores between 0 and 1: a pass is worth 0.9 or 1, a failure 0, 0.3 or 0.7. For metrics that read them. */
export const partial: NonNullable<Play['meddle']> = (report) => {
  if (report.kind !== 'finished' || report.result.outcome.status !== 'scored') return report;
  const { outcome } = report.result;
  const worth = outcome.hard === 1 ? [0.9, 1] : [0, 0.3, 0.7];
  const soft = worth[Math.floor(unit('partial', report.key) * worth.length)] ?? 0;
  return { ...report, result: { ...report.result, outcome: { ...outcome, soft } } };
};
