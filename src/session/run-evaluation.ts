import { type EvalResult, evaluate } from '../engine/evaluate.ts';
import type { Redactor } from '../journal/redact.ts';
import type { Input } from '../ports/inputs.ts';
import type { Proposals } from '../ports/proposals.ts';
import type { Rollouts } from '../ports/rollouts.ts';
import { ActualLedger } from './actual-ledger.ts';
import { evalPlan } from './eval-first-line.ts';
import type { Evaluation } from './evaluation.ts';
import { driftOf, explain, knownVersions } from './foreign-ends.ts';
import type { Hold } from './hold.ts';
import { RecordedPorts } from './recorded-ports.ts';
import type { Resets } from './resets.ts';

export type EvalRunParts = {
  readonly rollouts: Rollouts;
  readonly redact: Redactor;
  readonly signal: AbortSignal;
  readonly workers: number;
  readonly backoffMs: readonly number[];
  readonly nowMs: () => number;
  readonly hold: Hold;
  /** Waits for the reset of a login's window; null = the eval pauses. */
  readonly resets?: Resets | null;
};

/** An eval edits nothing and asks no optimizer. */
const noEdits = (): never => {
  throw new Error('an eval edits nothing');
};
const nobody: Proposals = { preflight: async () => [], performProposal: async () => noEdits() };

/**
 * Runs an eval to its end, or on from where it stopped: what stands in the log is returned instead of performed. Throws
 * `interrupted`, the failure that paused it, or `log-diverged`.
 */
export async function runEvaluation(evaluation: Evaluation, parts: EvalRunParts): Promise<EvalResult> {
  const { logged, journal, config } = evaluation;
  const versions = await parts.rollouts.versions();
  const known = knownVersions(logged);
  const recovered = await logged.recovered(parts.rollouts);
  evaluation.begin({ versions, workers: parts.workers, recovered });
  const drift = known === null ? '' : driftOf(known, versions);
  const waiting: Input[] = limitsChange(evaluation);
  const ledger = new ActualLedger(
    config.limits,
    { confirmation: 0, finalize: 0 },
    logged.started,
    evaluation.state.minutes,
    parts.nowMs,
    logged.spending,
  );
  const ports = new RecordedPorts(logged, {
    journal,
    rollouts: parts.rollouts,
    proposals: nobody,
    workers: parts.workers,
    task: (id) => evaluation.task(id),
    skill: (_text, name) => evaluation.skill(name),
    texts: evaluation.texts,
    redact: parts.redact,
    ops: { apply: noEdits, same: noEdits },
    leaks: async () => () => null,
    ledger,
    backoffMs: parts.backoffMs,
    drift: drift === '' ? null : { kind: 'environment.changed', what: drift, versions: { ...versions } },
    inputs: () => waiting.splice(0),
    signal: parts.signal,
    hold: parts.hold,
    resets: parts.resets ?? undefined,
  });
  try {
    const result = await evaluate(evalPlan(evaluation.created), ports);
    ports.forgo();
    return result;
  } catch (e) {
    throw explain(e, evaluation);
  } finally {
    await ports.drain();
    ports.close();
  }
}

/** Limits that are others than those that the log has heard of: told where one was reached. */
function limitsChange({ logged, config, created }: Evaluation): Input[] {
  let known: object = created.limits;
  for (const here of logged.inputs.values())
    for (const { input } of here) if (input.kind === 'limits.changed') known = input.limits;
  return JSON.stringify(known) === JSON.stringify(config.limits)
    ? []
    : [{ kind: 'limits.changed', limits: { ...config.limits } }];
}
