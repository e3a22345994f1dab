import type { Costs, Estimate } from '../events/estimate.ts';
import { estimateTexts } from '../events/estimate-words.ts';
import type { Limits } from '../ports/inputs.ts';
import type { Model } from '../ports/model.ts';
import { stopped } from '../session/foreign-ends.ts';
import type { Session } from '../session/session.ts';
import {
  estimateLines,
  isPaid,
  isUnspent,
  labelled,
  leftLines,
  type Named,
  refuseUnbounded,
  stillAsked,
  tripLines,
  unlabelled,
} from './before-spending.ts';
import { estimateBefore, type Job, rolesOf } from './estimate-of.ts';
import type { Installing } from './preloads.ts';
import type { Roles, RoleTrip } from './roles.ts';
import { type RoundTrips, roundTrips } from './round-trips.ts';
import { redactor } from './secrets.ts';
import type { Surface } from './surface.ts';

/** It may begin, with what was found; or nobody wants it to. `estimate` null = it was begun before, or no model takes part. */
export type Begun<E extends Costs = Estimate> =
  | (RoundTrips & { readonly kind: 'begins'; readonly estimate: E | null })
  | { readonly kind: 'left'; readonly estimate: E; readonly lines: readonly string[] };

/** A session or an eval that is about to begin, or to go on. */
type Work<E extends Costs> = {
  readonly on: Pick<Session, 'id' | 'config' | 'noteCall'>;
  /** What it will come to, by how each model answered once; null = it was begun before, or no model takes part. */
  readonly estimate: ((trips: readonly RoleTrip[]) => Promise<E>) | null;
  /** The estimate in sentences. */
  readonly texts: (e: E) => readonly string[];
  readonly named: (e: E) => Named;
  readonly limits: Limits;
  /** What going on costs, as lines. */
  readonly left: readonly string[];
  /** The models that will still be called. */
  readonly asked: Roles<Model>;
  /** What is installed before the first rollout; null = nothing. */
  readonly preloads: Installing | null;
};

/** Who is told, and who may be asked. */
export type Telling = {
  readonly dir: string;
  readonly say: (text: string) => void;
  /** Shows the lines of an estimate and asks a person; null = there is nobody. */
  readonly ask: ((estimate: readonly string[]) => Promise<boolean>) | null;
  /** No questions. */
  readonly yes: boolean;
  readonly signal: AbortSignal;
};

/**
 * What stands before all that is paid: what is new tells what it may cost and needs a limit, `--yes` or the answer of a
 * person; then what rollouts need is installed, and each model that will be called is asked once. Throws what keeps it from beginning.
 */
export async function beginWork<E extends Costs>(work: Work<E>, o: Telling): Promise<Begun<E>> {
  const { limits } = work;
  const guess = work.estimate === null ? null : await work.estimate([]);
  for (const line of work.left) o.say(line);
  const plan = labelled('preloads', work.preloads?.plan ?? []);
  if (guess === null) for (const line of plan) o.say(line);
  if (guess !== null) {
    const lines = [...estimateLines(work.texts(guess), limits), ...plan];
    for (const line of lines) o.say(line);
    if (o.ask === null && !o.yes) refuseUnbounded(guess, limits, work.named(guess));
    if (o.ask !== null && !o.yes && isPaid(guess) && !(await o.ask(lines))) {
      if (o.signal.aborted) throw stopped(o.dir);
      const left = ['left        nothing was begun, and nothing was asked or paid; the same command asks again'];
      return { kind: 'left', estimate: guess, lines: left };
    }
  }
  if (o.signal.aborted) throw stopped(o.dir);
  const installed = (await work.preloads?.install(o.signal)) ?? [];
  if (o.signal.aborted) throw stopped(o.dir);
  const trips = await roundTrips(work.on, work.asked, {
    signal: o.signal,
    redact: redactor(),
  }).catch((e: unknown) => {
    throw o.signal.aborted ? stopped(o.dir, e) : e;
  });
  const estimate = work.estimate === null ? null : await work.estimate(trips.trips);
  for (const line of tripLines(trips.trips, estimate)) o.say(line);
  return { kind: 'begins', estimate, ...trips, warnings: [...installed, ...trips.warnings] };
}

export type BeginOptions = {
  readonly dir: string;
  readonly finalize: boolean;
  readonly workers: number;
  readonly roles: Roles<Model>;
  /** Whether the target can be asked for a word. */
  readonly asksTarget: boolean;
  readonly preloads: Installing | null;
  readonly splits: { readonly train: number; readonly test: number };
  /** A terminal that shows the live screen. */
  readonly isLive: boolean;
  /** No questions. */
  readonly yes: boolean;
  readonly signal: AbortSignal;
};

/** `beginWork` for a session. */
export async function begin(surface: Surface, session: Session, o: BeginOptions): Promise<Begun> {
  const { state, config } = session;
  const { roles, isLive, signal } = o;
  const named = rolesOf(config);
  const estimated: Roles = { target: roles.target ?? named.target, optimizer: roles.optimizer ?? named.optimizer };
  const models = [estimated.target, estimated.optimizer].filter((m) => m !== null);
  const job: Job = {
    config,
    tasks: session.pack.tasks,
    skillText: session.skill.text,
    splits: o.splits,
    consumed: state.planned,
    finalize: o.finalize,
    workers: o.workers,
  };
  const isNew = isUnspent(state) && state.ended === null && models.length > 0;
  const still = stillAsked(state, o.finalize);
  const title = `${session.skill.name} · ${[...new Set(models.map((m) => m.id))].join(', ')}`;
  const work: Work<Estimate> = {
    on: session,
    estimate: isNew ? (trips) => estimateBefore(job, estimated, trips) : null,
    texts: estimateTexts,
    named: (e) => ({
      what: 'session',
      size: `at most ${e.rollouts[1]} rollouts`,
      config: '"limits" in the config',
    }),
    limits: config.limits,
    left: isUnspent(state) ? [] : leftLines(state),
    preloads: still.target ? o.preloads : null,
    asked: {
      target: still.target && o.asksTarget ? roles.target : null,
      optimizer: still.optimizer ? roles.optimizer : null,
    },
  };
  return beginWork(work, {
    ...o,
    say: isLive ? () => {} : surface.say,
    ask: isLive ? (lines) => surface.mayBegin({ title, estimate: lines.map(unlabelled) }, signal) : null,
  });
}
