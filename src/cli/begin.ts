import type { Estimate } from '../events/estimate.ts';
import type { Model } from '../ports/model.ts';
import { stopped } from '../session/foreign-ends.ts';
import type { Session } from '../session/session.ts';
import {
  estimateLines,
  isPaid,
  isUnspent,
  leftLines,
  refuseUnbounded,
  stillAsked,
  tripLines,
  unlabelled,
} from './before-spending.ts';
import { estimateBefore, type Job, type Roles } from './estimate-of.ts';
import { type RoundTrips, roundTrips } from './round-trips.ts';
import type { Surface } from './surface.ts';
import { redactor } from './wiring.ts';

export type BeginOptions = {
  readonly dir: string;
  readonly finalize: boolean;
  readonly workers: number;
  readonly roles: Roles<Model>;
  readonly splits: { readonly train: number; readonly test: number };
  /** A terminal that shows the live screen. */
  readonly isLive: boolean;
  /** No questions. */
  readonly yes: boolean;
  readonly signal: AbortSignal;
};

/** It may begin, with what was found; or nobody wants it to. `estimate` null = it was begun before, or no model takes part. */
export type Begun =
  | (RoundTrips & { readonly kind: 'begins'; readonly estimate: Estimate | null })
  | { readonly kind: 'left'; readonly estimate: Estimate; readonly lines: readonly string[] };

/**
 * What stands before all that is paid: a new session tells what it may cost and needs a limit, `--yes` or the key of a
 * person; then each model that will be called is asked once. Throws what keeps it from beginning.
 */
export async function begin(surface: Surface, session: Session, o: BeginOptions): Promise<Begun> {
  const { state, config } = session;
  const { roles, isLive, signal } = o;
  const models = [roles.target, roles.optimizer].filter((m) => m !== null);
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
  const guess = isNew ? await estimateBefore(job, roles, []) : null;
  if (!isLive && guess === null && !isUnspent(state)) for (const line of leftLines(state)) surface.say(line);
  if (guess !== null) {
    const texts = estimateLines(guess, config);
    if (!isLive) for (const line of texts) surface.say(line);
    if (!isLive && !o.yes) refuseUnbounded(guess, config);
    const title = `${session.skill.name} · ${[...new Set(models.map((m) => m.id))].join(', ')}`;
    const asks = isLive && !o.yes && isPaid(guess);
    if (asks && !(await surface.mayBegin({ title, estimate: texts.map(unlabelled) }, signal))) {
      if (signal.aborted) throw stopped(o.dir);
      const lines = ['left        nothing was begun, and nothing was asked or paid; the same command asks again'];
      return { kind: 'left', estimate: guess, lines };
    }
  }
  if (signal.aborted) throw stopped(o.dir);
  const still = stillAsked(state, o.finalize);
  const asked = { target: still.target ? roles.target : null, optimizer: still.optimizer ? roles.optimizer : null };
  const trips = await roundTrips(session, asked, { signal, redact: redactor() }).catch((e: unknown) => {
    throw signal.aborted ? stopped(o.dir, e) : e;
  });
  const estimate = guess === null ? null : await estimateBefore(job, roles, trips.trips);
  if (!isLive) for (const line of tripLines(trips.trips, estimate)) surface.say(line);
  return { kind: 'begins', estimate, ...trips };
}
