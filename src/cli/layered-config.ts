import { existsSync } from 'node:fs';
import { cfgOptions } from '../config/cfg-options.ts';
import { hostEnvironment } from '../config/environment.ts';
import {
  configOfLayers,
  fileLayers,
  isWithin,
  type Layers,
  layersOf,
  type Override,
  withOverrides,
} from '../config/layers.ts';
import { environmentOverrides, setOverrides } from '../config/overrides.ts';
import type { Config } from '../config/schema.ts';
import { fail } from '../ports/failure.ts';
import type { OverrideOptions } from './override-options.ts';

/** Flags that stand for one key each. */
export type KeyFlags = {
  readonly budget?: number | undefined;
  readonly limitRollouts?: number | undefined;
  readonly limitMinutes?: number | undefined;
  readonly limitUsd?: number | undefined;
  readonly limitTokens?: number | undefined;
  readonly workers?: number | undefined;
};

const keyFlags: readonly (readonly [option: keyof KeyFlags, flag: string, key: string])[] = [
  ['budget', '--budget', 'budget.rollouts'],
  ['limitRollouts', '--limit-rollouts', 'limits.rollouts'],
  ['limitMinutes', '--limit-minutes', 'limits.minutes'],
  ['limitUsd', '--limit-usd', 'limits.usd'],
  ['limitTokens', '--limit-tokens', 'limits.tokens'],
  ['workers', '--workers', 'workers'],
];

/** What a command line sets. */
export type Flags = {
  readonly overrides: readonly Override[];
  /** The session's directory, where `env.out_root` names one. */
  readonly outRoot: string | null;
  /** What SkillOpt's names were taken for, to be told once. */
  readonly taken: readonly string[];
};

/**
 * Reads all flags that set keys. Throws `config` for a key that does not exist, `usage` for two flags that contradict each
 * other; of one flag that is given again the last counts.
 */
export function flagsOf(options: OverrideOptions & KeyFlags): Flags {
  const byName = cfgOptions(options.cfgOptions ?? []);
  const own = keyFlags.flatMap(([option, flag, key]): Override[] => {
    const value = options[option];
    return value === undefined ? [] : [{ key, value, source: { kind: 'flag', flag: `${flag} ${value}` } }];
  });
  const sets = setOverrides(options.set ?? []);
  for (const [one, other] of [
    [own, sets],
    [own, byName.overrides],
    [sets, byName.overrides],
  ] as const)
    refuseContradiction(one, other);
  return { ...byName, overrides: [...byName.overrides, ...sets, ...own] };
}

function refuseContradiction(one: readonly Override[], other: readonly Override[]): void {
  for (const a of one)
    for (const b of other) {
      if (!isWithin(a.key, b.key) && !isWithin(b.key, a.key)) continue;
      const [outer, inner] = a.key.length <= b.key.length ? [a, b] : [b, a];
      const path = inner.key.slice(outer.key.length).split('.').filter(Boolean);
      const inOuter = path.reduce<unknown>(
        (v, k) => (v as Record<string, unknown> | null | undefined)?.[k],
        outer.value,
      );
      if (JSON.stringify(inOuter) === JSON.stringify(inner.value)) continue;
      throw fail(
        'usage',
        `two flags contradict each other: ${textOf(a)} and ${textOf(b)}`,
        'the command line',
        'keep one of them',
      );
    }
}

const textOf = ({ source, key }: Override) => (source.kind === 'flag' ? source.flag : key);

/** Defaults < file < environment, for a config file that is there. Throws `config`. */
export function fileAndEnvironment(path: string): Layers {
  return withOverrides(fileLayers(path), environment());
}

/** The same, or null where there is no such file. */
export function fileAndEnvironmentIfThere(path: string): Layers | null {
  return existsSync(path) ? fileAndEnvironment(path) : null;
}

/** What the environment sets. Throws `config` for a variable that looks like a key and is none. */
export const environment = (): readonly Override[] => environmentOverrides(hostEnvironment());

/** A config from a file's data (null: there is none), environment and flags; `where` names the file in messages. */
export function configFrom(o: { readonly data: unknown; readonly where: string; readonly flags: Flags }): {
  readonly config: Config;
  readonly layers: Layers;
} {
  const file = layersOf(o.data ?? {}, { kind: 'file', path: o.where }, o.where);
  const layers = withOverrides(file, [...environment(), ...o.flags.overrides]);
  return { config: configOfLayers(layers), layers };
}
