import { type Difference, differences } from '../config/differences.ts';
import { checkConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { RunState } from '../events/run-state.ts';
import type { Bounds } from '../events/shapes.ts';
import { type Failure, fail, SkilloptError } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import type { Logged } from './logged.ts';
import type { SessionPaths } from './paths.ts';

/** What the command line sets for this and the following runs. */
export type Flags = {
  readonly budget?: number | undefined;
  readonly limitRollouts?: number | undefined;
  readonly limitMinutes?: number | undefined;
  readonly limitUsd?: number | undefined;
  readonly limitTokens?: number | undefined;
  readonly workers?: number | undefined;
};

/** Budget and limits of this run: a flag, else the file if it was changed since it was last looked at, else the log. */
export function effectiveConfig(file: Config | null, flags: Flags, logged: Logged, paths: SessionPaths): Config {
  const base = file ?? (logged.created ? checkConfig(logged.created.config, paths.log) : null);
  if (base === null)
    throw fail('usage', 'there is no session here', paths.dir, 'start one with `skillopt run` beside a config');
  const { file: seen, wanted } = logged;
  /** `inFile` counts when there is a file and it was changed, or when there is no log yet. */
  const now = <T>(flag: T | undefined, inFile: T, before: T | undefined, inLog: T | undefined): T => {
    if (flag !== undefined) return flag;
    if (inLog === undefined || (file !== null && inFile !== before)) return inFile;
    return inLog;
  };
  /** Limits that came later than the first logs: not there means none. */
  const extra = (flag: number | undefined, kind: 'usd' | 'tokens'): number | null | undefined => {
    if (flag !== undefined) return flag;
    const inFile = base.limits[kind];
    if (wanted === null) return inFile;
    // a null that somebody has written takes back what a flag has set
    const changed = file !== null && inFile !== seen?.limits[kind];
    const inLog = wanted.limits[kind];
    return changed && (inFile ?? null) !== (inLog ?? null) ? inFile : inLog;
  };
  const given = (kind: 'usd' | 'tokens', limit: number | null | undefined) =>
    limit === undefined ? {} : { [kind]: limit };
  const wanting = {
    ...base,
    workers: flags.workers ?? base.workers,
    budget: { rollouts: now(flags.budget, base.budget.rollouts, seen?.budget, wanted?.budget) },
    limits: {
      rollouts: now(flags.limitRollouts, base.limits.rollouts, seen?.limits.rollouts, wanted?.limits.rollouts),
      minutes: now(flags.limitMinutes, base.limits.minutes, seen?.limits.minutes, wanted?.limits.minutes),
      ...given('usd', extra(flags.limitUsd, 'usd')),
      ...given('tokens', extra(flags.limitTokens, 'tokens')),
    },
  };
  return checkConfig(wanting, Object.keys(flags).length > 0 ? 'the command line' : paths.config);
}

/** What may change in place, as a config has it. */
export function bounds(config: Config): Bounds {
  return { budget: config.budget.rollouts, limits: { ...config.limits } };
}

/** Differences as a person reads them: `gate.rule (was "balanced", is "careful")`. */
export function differenceTexts(list: readonly Difference[]): readonly string[] {
  return list.map((d) => `${d.key} (was ${JSON.stringify(d.was)}, is ${JSON.stringify(d.is)})`);
}

/** Splits are fixed for a session and all its forks. */
export function isOfSplits(key: string): boolean {
  return key === 'splits' || key.startsWith('splits.');
}

/** The config is not the one of this session. `changes` = what differs, for people. */
export class OtherSession extends SkilloptError {
  constructor(
    failure: Failure,
    readonly changes: string,
  ) {
    super(failure);
  }
}

/** The config of a session that exists may differ in few keys; whatever else differs is another session: `OtherSession`. */
export function refuseOther(created: Config, config: Config, paths: SessionPaths): void {
  const { fork } = differences(created, config);
  if (fork.length === 0) return;
  const list = differenceTexts(fork).join(', ');
  const splits = fork.some((d) => isOfSplits(d.key));
  throw new OtherSession(
    {
      code: 'session-mismatch',
      what: `the config now describes another session: ${list}`,
      where: paths.config,
      fix: splits
        ? 'set it back; a fork keeps its splits, so other splits are a new session in a directory of its own'
        : `set it back, or go on with it in a fork, which keeps splits and paid outcomes: \`skillopt fork ${shellWord(paths.dir)}\``,
      retryable: false,
    },
    list,
  );
}

/** The budget bounds the search, and limits the sealed test, too: when those have ended they can't change any more. */
export function refuseLate(config: Config, state: RunState, wanted: Bounds | null, paths: SessionPaths): void {
  const { plan } = state;
  if (plan === null) return;
  const now = { budget: config.budget, limits: config.limits };
  // what was asked for before the end and came too late to be taken is no change of now
  const asked = wanted && { budget: { rollouts: wanted.budget }, limits: wanted.limits };
  const late = differences({ budget: { rollouts: plan.budget }, limits: plan.limits }, now).inPlace.find(
    (d) => state.finalized !== null || !d.key.startsWith('limits.'),
  );
  if (asked && differences(asked, now).inPlace.length === 0) return;
  if (late)
    throw fail(
      'session-mismatch',
      `the search has ended, so ${late.key} can’t change any more (was ${JSON.stringify(late.was)}, is ${JSON.stringify(late.is)})`,
      paths.config,
      `set it back; to search further, go on in a fork: \`skillopt fork ${shellWord(paths.dir)}\``,
    );
}
