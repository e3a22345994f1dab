import { unit } from '../bench/rulebook-world.ts';
import { checkConfig } from '../config/load.ts';
import { type EvalResult, evaluate } from '../engine/evaluate.ts';
import type { EvalArmName } from '../events/eval-shapes.ts';
import { EvalFold, type EvalState } from '../events/eval-state.ts';
import { Journal } from '../journal/journal.ts';
import { TextMemory } from '../journal/journal-fixture.ts';
import { makeRedactor } from '../journal/redact.ts';
import type { InputSource, Limits } from '../ports/inputs.ts';
import { type Outcome, scored, unscored } from '../ports/outcome.ts';
import type { RolloutReport, RolloutRequest, Rollouts } from '../ports/rollouts.ts';
import type { Task } from '../ports/task.ts';
import { noUsage, type Usage } from '../ports/usage.ts';
import { ActualLedger } from './actual-ledger.ts';
import { performBatch } from './batch-fixture.ts';
import { evalCreatedEvent, evalPlan } from './eval-first-line.ts';
import { Hold } from './hold.ts';
import type { Live } from './live.ts';
import { Logged } from './logged.ts';
import { RecordedPorts } from './recorded-ports.ts';
import { taskOf } from './session-fixture.ts';
import { VirtualClock } from './virtual-clock-fixture.ts';

export type PlayEval = {
  readonly tasks?: number;
  readonly attempts?: number;
  readonly arms?: readonly EvalArmName[];
  /** Share of the tries that end unscored. */
  readonly infra?: number;
  /** Chance that an arm passes a task; default: 0.7 with the skill, else 0.4. */
  readonly chance?: (arm: EvalArmName, task: string) => number;
  /** In place of the drawn outcome. */
  readonly outcome?: (key: string, task: string) => Outcome | null;
  /** Tasks for which the skill is not meant. */
  readonly silent?: readonly string[];
  readonly opens?: boolean;
  /** What a rollout spends; default: nothing. */
  readonly usage?: (key: string) => Usage;
  readonly workers?: number;
  readonly latency?: (key: string) => number;
  readonly batches?: boolean;
  /** Hears each call of the backend. */
  readonly onBatch?: (requests: readonly RolloutRequest[], concurrency: number | undefined) => void;
  /** What the backend knows of an earlier process; default: nothing. */
  readonly recover?: NonNullable<Rollouts['recover']>;
  readonly limits?: Limits;
  readonly inputs?: InputSource;
  readonly drift?: Live['drift'];
  readonly log?: string;
  readonly beforeWrite?: (line: string) => void;
};

export type PlayedEval = {
  readonly result: EvalResult;
  readonly log: string;
  readonly state: EvalState;
  /** Keys in the order in which the backend was given them. */
  readonly dispatched: readonly string[];
  readonly started: number;
};

const texts: Readonly<Record<EvalArmName, string | null>> = { skill: 'SKILL A', other: 'SKILL B', 'no-skill': null };

function evalTask(id: string, silent: boolean): Task {
  return { ...taskOf(id), shouldTrigger: silent ? false : null };
}

/** A whole eval in memory: the real engine, recorded ports, pool and journal, and outcomes that follow from their keys. */
export async function playEval(o: PlayEval): Promise<PlayedEval> {
  const clock = new VirtualClock();
  const journal = Journal.memory(o.log ?? '', o.beforeWrite ? { beforeWrite: o.beforeWrite } : {});
  const fold = new EvalFold();
  const { logged } = Logged.read(journal.read(), ({ event }) => fold.add(event));
  journal.onAppend((event) => fold.add(event));
  const tasks = Array.from({ length: o.tasks ?? 5 }, (_, i) =>
    evalTask(`task-${i}`, o.silent?.includes(`task-${i}`) ?? false),
  );
  const limits = o.limits ?? { rollouts: null, minutes: null };
  const config = checkConfig({ skill: 'a', pack: 'p', agent: 'simulated', optimizer: 'none', limits }, 'test');
  if (logged.evaluation === null) {
    const created = evalCreatedEvent({
      id: 'eval',
      program: 'test',
      config,
      arms: (o.arms ?? ['skill', 'no-skill']).map((arm) => {
        const text = texts[arm];
        return { arm, skill: text === null ? null : { name: arm, text, bundle: '', files: [], from: arm } };
      }),
      pack: { name: 'p', dir: '/nowhere', hash: 'p', tasks },
      packFrom: 'p',
      of: tasks.length,
      tasks,
      attempts: o.attempts ?? 1,
      session: null,
    });
    logged.evaluation = { ...created, environment: { ...created.environment, opens: o.opens ?? true } };
    journal.append(logged.evaluation);
  }
  const { evaluation } = logged;
  const chance = o.chance ?? ((arm) => (arm === 'skill' ? 0.7 : 0.4));
  const draw = (key: string, task: string): Outcome => {
    const own = o.outcome?.(key, task) ?? null;
    if (own !== null) return own;
    if (unit('infra', key) < (o.infra ?? 0)) return unscored('environment', 'it is down');
    const arm = evaluation.arms.find((a) => key.startsWith(`${a.skill}/`))?.arm ?? 'no-skill';
    const reward = unit('pass', key) < chance(arm, task) ? 1 : 0;
    return scored({ reward }, reward, 1, { read: unit('read', key) < 0.5 });
  };
  const dispatched: string[] = [];
  const rollouts: Rollouts = {
    batches: o.batches ?? false,
    preflight: async () => [],
    sweep: async () => [],
    versions: async () => ({}),
    ...(o.recover && { recover: o.recover }),
    async *performRollouts(requests, options) {
      for (const { key } of requests) dispatched.push(key);
      o.onBatch?.(requests, options.concurrency);
      if (o.batches) yield* performBatch(requests, options, perform);
      else for (const request of requests) yield await perform(request);
    },
  };
  const perform = async ({ key, task, signal }: RolloutRequest): Promise<RolloutReport> => {
    if (o.latency && !(await clock.sleep(o.latency(key), signal))) return { kind: 'cancelled', key };
    const outcome = draw(key, task.id);
    const result = {
      outcome,
      trajectory: null,
      usage: o.usage?.(key) ?? noUsage,
      exit: 'finished' as const,
      durationMs: 3,
      versions: {},
    };
    return { kind: 'finished', key, result };
  };
  logged.lose((event) => journal.append(event), await logged.recovered(rollouts));
  const workers = o.workers ?? 1;
  const none = { confirmation: 0, finalize: 0 };
  const refuse = (): never => {
    throw new Error('an eval edits nothing');
  };
  const ledger = new ActualLedger(limits, none, logged.started, fold.state.minutes, () => clock.now, logged.spending);
  const ports = new RecordedPorts(logged, {
    journal,
    rollouts,
    proposals: { preflight: async () => [], performProposal: async () => refuse() },
    ops: { apply: refuse, same: refuse },
    leaks: async () => () => null,
    workers,
    task: (id) => tasks.find((t) => t.id === id) ?? refuse(),
    skill: (text, name) => ({ name: 'a', hash: name, text, bundleDir: null }),
    texts: new TextMemory(),
    redact: makeRedactor([]),
    ledger,
    backoffMs: [0],
    inputs: o.inputs ?? (() => []),
    drift: o.drift ?? null,
    signal: new AbortController().signal,
    hold: new Hold(),
  });
  const work = (async () => {
    try {
      const result = await evaluate(evalPlan(evaluation), ports);
      ports.forgo();
      return result;
    } finally {
      await ports.drain();
      ports.close();
    }
  })();
  const result = o.latency ? await clock.drive(work) : await work;
  return { result, log: journal.text(), state: fold.state, dispatched, started: ledger.started };
}

/** The log of an eval that ends before its end, and why. */
export async function untilEnd(o: PlayEval): Promise<{ readonly log: string; readonly error: unknown }> {
  const lines: string[] = [];
  try {
    return { log: (await playEval({ ...o, beforeWrite: (line) => lines.push(line) })).log, error: null };
  } catch (error) {
    return { log: (o.log ?? '') + lines.map((l) => `${l}\n`).join(''), error };
  }
}
