import { type FinalizeResult, finalize } from '../engine/finalize.ts';
import { type LoopResult, optimize } from '../engine/loop.ts';
import type { Redactor } from '../journal/redact.ts';
import { shortHash } from '../ports/hash.ts';
import type { Input, InputSource } from '../ports/inputs.ts';
import type { LeakScan } from '../ports/leak.ts';
import type { Proposals } from '../ports/proposals.ts';
import type { Rollouts } from '../ports/rollouts.ts';
import { ActualLedger } from './actual-ledger.ts';
import { Interrupted } from './ends.ts';
import { nextLook } from './first-lines.ts';
import { driftOf, explain, knownVersions } from './foreign-ends.ts';
import type { Hold } from './hold.ts';
import { RecordedPorts } from './recorded-ports.ts';
import { deliverable, sessionOps } from './replay.ts';
import type { Resets } from './resets.ts';
import type { Session } from './session.ts';
import type { Slots } from './slots.ts';

export type RunParts = {
  readonly rollouts: Rollouts;
  readonly proposals: Proposals;
  readonly redact: Redactor;
  readonly leaks: LeakScan;
  readonly inputs: InputSource;
  readonly signal: AbortSignal;
  readonly hold: Hold;
  /** Waits for the reset of a login's window; null = the session pauses. */
  readonly resets?: Resets | null;
  readonly workers: number;
  /** Workers that are shared with other sessions of this process; absent = `workers` of its own. */
  readonly slots?: Slots;
  readonly backoffMs: readonly number[];
  readonly nowMs: () => number;
  /** Goes on to the sealed test when the search has ended. */
  readonly finalize: boolean;
};

/** How the search, and the finalize if there was one, came out. */
export type RunEnd = {
  readonly loop: LoopResult;
  readonly finalize: FinalizeResult | null;
  readonly performed: readonly string[];
};

/**
 * Runs a session to its end, or on from where it stopped: the engine starts from the beginning, and what stands in the
 * log is returned instead of performed. Throws `interrupted`, the failure that paused it, or `log-diverged`.
 */
export async function runSession(session: Session, parts: RunParts): Promise<RunEnd> {
  const { logged, journal, config } = session;
  const versions = await parts.rollouts.versions();
  const known = knownVersions(logged);
  const recovered = await logged.recovered(parts.rollouts);
  const plan = session.begin({ versions, workers: parts.workers, recovered });
  const waiting: Input[] = [];
  const drift = known === null ? '' : driftOf(known, versions);
  if (config.budget.rollouts !== currentBudget(session))
    waiting.push({ kind: 'budget.changed', rollouts: config.budget.rollouts });
  if (JSON.stringify(config.limits) !== JSON.stringify(session.state.plan?.limits))
    waiting.push({ kind: 'limits.changed', limits: config.limits });
  const ledger = new ActualLedger(
    config.limits,
    session.reserves(plan.selection.length, plan.test.length, parts.workers),
    logged.started,
    session.state.minutes,
    parts.nowMs,
    logged.spending,
  );
  const texts = session.texts;
  const ops = sessionOps(session);
  const bundleDir = session.paths.skill(session.skill.name);
  const ports = new RecordedPorts(logged, {
    journal,
    rollouts: parts.rollouts,
    proposals: parts.proposals,
    workers: parts.workers,
    slots: parts.slots,
    task: (id) => session.task(id),
    skill: (text) => ({ name: session.skill.name, hash: shortHash(text), text, bundleDir }),
    texts,
    redact: parts.redact,
    ops,
    optimizes: config.optimize,
    leaks: parts.leaks,
    ledger,
    backoffMs: parts.backoffMs,
    resets: parts.resets ?? undefined,
    drift: drift === '' ? null : { kind: 'environment.changed', what: drift, versions: { ...versions } },
    inputs: (point) => [...waiting.splice(0), ...parts.inputs(point)],
    signal: parts.signal,
    hold: parts.hold,
  });
  try {
    const loop = await optimize(plan, ports, ops);
    const opened = logged.finalizeStarted;
    const wanted = (parts.finalize || opened !== null) && deliverable(loop, plan);
    if (wanted && opened === null) {
      await parts.hold.open(parts.signal); // nobody who has paused or stopped it wants the test opened
      if (parts.signal.aborted) throw new Interrupted();
    }
    const final = wanted
      ? await finalize(
          plan,
          ports,
          loop,
          opened ?? { look: logged.created ? nextLook(logged.created) : 1, attempts: config.finalize.attempts },
        )
      : null;
    ports.forgo();
    return { loop, finalize: final, performed: ports.performed };
  } catch (e) {
    throw explain(e, session);
  } finally {
    await ports.drain();
    ports.close();
  }
}

function currentBudget(session: Session): number | undefined {
  return session.state.plan?.budget;
}
