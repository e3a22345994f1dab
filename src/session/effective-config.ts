import { type Difference, differences } from '../config/differences.ts';
import {
  configOfLayers,
  isWithin,
  type Layers,
  layersOf,
  type Override,
  placeOf,
  sourceOf,
  valueAt,
  withOverrides,
} from '../config/layers.ts';
import type { Config } from '../config/schema.ts';
import type { RunState } from '../events/run-state.ts';
import type { Bounds, StandingKey } from '../events/shapes.ts';
import { type Failure, fail, SkilloptError } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import type { Logged } from './logged.ts';
import type { SessionPaths } from './paths.ts';

/** The config of this run, with where each value comes from. */
export type Effective = {
  readonly config: Config;
  readonly layers: Layers;
  /** What flags have set, of this run and of those before, that stands until another flag or a changed file. */
  readonly set: readonly StandingKey[];
  /** Budget and limits without flags. */
  readonly file: Bounds;
};

/**
 * The config of this run: a flag, else the file (with the environment) if it was changed since it was last looked at,
 * else what a flag has set before. `file` null: the config file is gone, all is as the log has it.
 */
export function effectiveConfig(
  file: Layers | null,
  flags: readonly Override[],
  logged: Logged,
  paths: SessionPaths,
): Effective {
  const { created } = logged;
  const inLog = { kind: 'log', path: paths.log } as const;
  const base = file ?? (created ? layersOf(created.config, inLog, paths.log) : null);
  if (base === null)
    throw fail('usage', 'there is no session here', paths.dir, 'start one with `skillopt run` beside a config');
  const standing = logged.set.filter(
    ({ key, value, base: before }) =>
      !flags.some((flag) => isWithin(key, flag.key)) &&
      (file === null || same(valueAt(file, key), before)) &&
      !same(valueAt(base, key), value),
  );
  const before = [
    ...standing.map(({ key, value }) => ({ key, value, source: inLog })),
    ...standingBounds(base, file !== null, flags, logged).map((o) => ({ ...o, source: inLog })),
  ];
  const layers = withOverrides(base, [...before, ...flags]);
  const config = configOfLayers(layers);
  const set = [
    ...standing,
    ...flags.filter(({ key }) => stands(key)).map(({ key, value }) => ({ key, value, ...has(valueAt(base, key)) })),
  ];
  return { config, layers, set: lastOfEach(set), file: boundsOf(base) ?? bounds(config) };
}

/** Budget and limits stand as what was wanted, and a consent has to be given each time. */
function stands(key: string): boolean {
  return !/^(budget|limits|allowUnsandboxed|version|\$schema)(\.|$)/.test(key);
}

const has = (base: unknown) => (base === undefined ? {} : { base });

/** Of what stands for one key the last; a part of what was set whole comes behind it. */
function lastOfEach(list: readonly StandingKey[]): readonly StandingKey[] {
  return list.filter(({ key }, i) => !list.slice(i + 1).some((later) => isWithin(key, later.key)));
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** What was wanted of budget and limits and stands, where the base says something else. */
function standingBounds(
  base: Layers,
  hasFile: boolean,
  flags: readonly Override[],
  { file: seen, wanted }: Logged,
): readonly { readonly key: string; readonly value: unknown }[] {
  if (wanted === null) return [];
  const inFile = boundsOf(base);
  const found: { key: string; value: unknown }[] = [];
  const look = (key: string, is: unknown, was: unknown, stood: unknown, mayBeAbsent: boolean) => {
    if (flags.some((flag) => isWithin(key, flag.key)) || same(is, stood)) return;
    const isChanged = hasFile && !same(is, was);
    // of a limit that came later than the first logs, absent means none: only a null that takes something back counts
    if (isChanged && !(mayBeAbsent && same(is ?? null, stood ?? null))) return;
    found.push({ key, value: stood });
  };
  look('budget.rollouts', inFile?.budget, seen?.budget, wanted.budget, false);
  for (const kind of ['rollouts', 'minutes'] as const)
    look(`limits.${kind}`, inFile?.limits[kind], seen?.limits[kind], wanted.limits[kind], false);
  for (const kind of ['usd', 'tokens'] as const)
    look(`limits.${kind}`, inFile?.limits[kind], seen?.limits[kind], wanted.limits[kind], true);
  return found;
}

/** Budget and limits of layers; null where they can't be read. */
export function boundsOf(layers: Layers): Bounds | null {
  const budget = valueAt(layers, 'budget.rollouts');
  const limits = valueAt(layers, 'limits');
  return typeof budget === 'number' && limits !== undefined ? { budget, limits: limits as Bounds['limits'] } : null;
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
  return key === 'splits' || key.startsWith('splits.') || key === 'taskLimit';
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
export function refuseOther(created: Config, { config, layers }: Effective, paths: SessionPaths): void {
  const { fork } = differences(created, config);
  if (fork.length === 0) return;
  const list = differenceTexts(fork).join(', ');
  const splits = fork.some((d) => isOfSplits(d.key));
  const places = [...new Set(fork.map((d) => placeOf(layers, d.key)))];
  const given = fork.map((d) => sourceOf(layers, d.key)).flatMap((s) => (s.kind === 'flag' ? [s.flag] : []));
  const ofFlags = given.length === fork.length;
  const undo = ofFlags ? 'leave the flag out' : 'set it back';
  const flags = ofFlags ? [...new Set(given)].map((flag) => ` ${flag}`).join('') : '';
  throw new OtherSession(
    {
      code: 'session-mismatch',
      what: `the config now describes another session: ${list}`,
      where: places.join(', '),
      fix: splits
        ? `${undo}; a fork keeps its splits, so other splits are a new session in a directory of its own`
        : `${undo}, or go on with it in a fork, which keeps splits and paid outcomes: \`skillopt fork ${shellWord(paths.dir)}${flags}\``,
      retryable: false,
    },
    list,
  );
}

/** The budget bounds the search, and limits the sealed test, too: when those have ended they can't change any more. */
export function refuseLate(
  { config, layers }: Effective,
  state: RunState,
  wanted: Bounds | null,
  paths: SessionPaths,
): void {
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
      placeOf(layers, late.key),
      `set it back; to search further, go on in a fork: \`skillopt fork ${shellWord(paths.dir)}\``,
    );
}
