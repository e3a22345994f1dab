import { type FinalizeResult, finalize } from '../engine/finalize.ts';
import { type LoopResult, optimize } from '../engine/loop.ts';
import type { Redactor } from '../journal/redact.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { shortHash } from '../ports/hash.ts';
import type { Input, InputSource } from '../ports/inputs.ts';
import type { LeakScan } from '../ports/leak.ts';
import type { Proposals } from '../ports/proposals.ts';
import type { Rollouts } from '../ports/rollouts.ts';
import { ActualLedger } from './actual-ledger.ts';
import { Interrupted, OtherDecision, Paused } from './ends.ts';
import { nextLook } from './first-lines.ts';
import type { Hold } from './hold.ts';
import { RecordedPorts } from './recorded-ports.ts';
import { deliverable, divergence, sessionOps } from './replay.ts';
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
  const known = knownVersions(session);
  const plan = session.begin({ versions, workers: parts.workers });
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
    return { loop, finalize: final, performed: ports.performed };
  } catch (e) {
    throw explain(e, session);
  } finally {
    await ports.drain();
    ports.close();
  }
}

const GO_ON = 'start it again: it goes on where it stopped';

/** The failure of a run that was stopped by its user. */
export function stopped(dir: string, cause?: unknown): SkilloptError {
  return fail('interrupted', 'the run was stopped; nothing that finished is lost', dir, GO_ON, {
    retryable: true,
    cause,
  });
}

/** What a foreign end of the run means for the user. */
function explain(e: unknown, session: Session): unknown {
  if (e instanceof OtherDecision) return divergence(e, session.paths.log);
  if (e instanceof Interrupted) {
    note(session, 'stopped by the user', GO_ON);
    return stopped(session.paths.dir, e);
  }
  if (e instanceof Paused) {
    const { what, where, fix } = e.failure;
    note(session, what, fix, { where, ...(e.role === null ? {} : { role: e.role }) });
    return new SkilloptError(e.failure, { cause: e });
  }
  return e;
}

/** A marker for people; where even that can’t be written, the failure itself says enough. */
function note(
  session: Session,
  why: string,
  fix: string,
  failed: { readonly where?: string; readonly role?: 'rollouts' | 'optimizer' } = {},
): void {
  try {
    session.journal.append({ type: 'session.paused', why, fix, ...failed });
  } catch (e) {
    if (!(e instanceof SkilloptError)) throw e;
  }
}

function currentBudget(session: Session): number | undefined {
  return session.state.plan?.budget;
}

/** Versions that the outcomes so far were made with: the last ones that were taken note of. */
function knownVersions(session: Session): Readonly<Record<string, string>> | null {
  let known = session.logged.created?.environment.versions ?? null;
  for (const here of session.logged.inputs.values())
    for (const { input } of here) if (input.kind === 'environment.changed') known = input.versions;
  return known;
}

function driftOf(was: Readonly<Record<string, string>>, is: Readonly<Record<string, string>>): string {
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((k) => was[k] !== is[k])
    .map((k) => `${k} ${was[k] ?? 'absent'} → ${is[k] ?? 'absent'}`)
    .join(', ');
}
