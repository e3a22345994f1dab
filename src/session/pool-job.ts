import type { Ask, LedgerLine } from '../ports/engine.ts';
import type { LimitKind } from '../ports/inputs.ts';
import type { Outcome } from '../ports/outcome.ts';
import type { RolloutRequest } from '../ports/rollouts.ts';
import type { PoolOptions } from './pool-options.ts';

/** What a job is wanted for: 0 awaited by the engine, 1 planned, 2 a guess. */
export type Rank = 0 | 1 | 2;

/** An outcome, or the limit that keeps the rollout from starting. */
export type Answer = Outcome | LimitKind;

export type Job = {
  readonly key: string;
  readonly ask: Ask;
  readonly text: string | null;
  rank: Rank;
  line: LedgerLine;
  running: boolean;
  /** Which wave of failures it started after, and which of rollouts without an answer. */
  wave: number;
  unansweredWave: number;
  readonly abort: AbortController;
  readonly done: Promise<Answer>;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (e: unknown) => void;
};

/** A rollout that the pool is to perform. Nobody has to hear of its failure: a dropped one may fail unheard. */
export function newJob(ask: Ask, text: string | null, rank: Rank, line: LedgerLine): Job {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  promise.catch(() => {});
  return {
    key: ask.key,
    ask,
    text,
    rank,
    line,
    running: false,
    wave: 0,
    unansweredWave: 0,
    abort: new AbortController(),
    done: promise,
    resolve,
    reject,
  };
}

/** As the backend is asked for it. */
export function requestOf(j: Job, o: Pick<PoolOptions, 'task' | 'skill'>): RolloutRequest {
  return {
    key: j.key,
    task: o.task(j.ask.task),
    skill: j.text === null ? null : o.skill(j.text, j.ask.skill),
    attempt: j.ask.attempt,
    try: j.ask.try,
    signal: j.abort.signal,
  };
}
