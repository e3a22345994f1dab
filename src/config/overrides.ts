import { fail } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import { configKeys, schemaAt, unknownKey } from './keys.ts';
import type { Override } from './layers.ts';
import { nearest } from './nearest.ts';

/** What `--set` was given. Throws `config` for a key that does not exist, with the nearest that does; `usage` for no pair. */
export function setOverrides(texts: readonly string[]): readonly Override[] {
  return texts.map((text) => {
    const [key, given] = pairOf(text, '--set');
    if (schemaAt(key) === null) {
      const { what, fix } = unknownKey(key);
      throw fail('config', what, `--set ${shownPair(key, given)}`, fix);
    }
    return override(key, given, `--set ${shownPair(key, given)}`);
  });
}

/** `key=value`, split at the first `=`. Throws `usage`. */
export function pairOf(text: string, flag: string): readonly [key: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1)];
  throw fail(
    'usage',
    `${JSON.stringify(text)} is no key=value`,
    flag,
    `write ${flag} budget.rollouts=100; the directory stands before it`.replace(
      'budget.rollouts=100',
      flag === '--cfg-options' ? 'train.num_epochs=2' : 'budget.rollouts=100',
    ),
  );
}

/** A key that is known, with the value of a text: JSON where it is some that fits, else the text itself. */
export function override(key: string, given: string, flag: string): Override {
  return { key, value: parsedValue(key, given), source: { kind: 'flag', flag } };
}

/** A pair as messages may show it, as a word of a shell: no long values, and nothing that may be a key or a password. */
export function shownPair(key: string, given: string): string {
  return shellWord(`${key}=${shownValue(key, given)}`);
}

function shownValue(key: string, given: string): string {
  if (/keyEnv/i.test(key + given) || given.includes('@')) return '…';
  return given.length > MOST_SHOWN ? `${given.slice(0, MOST_SHOWN)}…` : given;
}

const MOST_SHOWN = 80;

function parsedValue(key: string, given: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    return given;
  }
  // a folder may be called 2024, and an agent true
  if (typeof value === 'object') return value;
  const shape = schemaAt(key);
  return shape !== null && !shape.safeParse(value).success && shape.safeParse(given).success ? given : value;
}

const PREFIX = 'SKILLOPT_';

/** Variables of this prefix that are no keys: the mark of a rollout's processes, and those of another program. */
const reserved = /^SKILLOPT_(ROLLOUT$|SLEEP_)/;

/** The variable of each key: `budget.rollouts` is SKILLOPT_BUDGET_ROLLOUTS, `search.draftSize` SKILLOPT_SEARCH_DRAFT_SIZE. */
export const variables: ReadonlyMap<string, string> = new Map(
  configKeys.filter((key) => !key.startsWith('$')).map((key) => [variableOf(key), key]),
);

/** The name of a key's variable. */
export function variableOf(key: string): string {
  return (
    PREFIX +
    key
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replaceAll('.', '_')
      .toUpperCase()
  );
}

/**
 * What the environment sets, in the schema's order; a variable that is empty sets nothing. Throws `config` for a variable
 * that looks like a key's and is none.
 */
export function environmentOverrides(env: Readonly<Record<string, string>>): readonly Override[] {
  for (const name of Object.keys(env)) if (name.startsWith(PREFIX)) refuseUnknown(name);
  return [...variables].flatMap(([variable, key]) => {
    const given = env[variable] ?? '';
    if (given === '') return [];
    const source = { kind: 'environment', variable, given: shownValue(key, given) } as const;
    return [{ key, value: parsedValue(key, given), source }];
  });
}

function refuseUnknown(name: string): void {
  if (variables.has(name) || reserved.test(name)) return;
  const bare = (n: string) => n.slice(PREFIX.length);
  const close = nearest(bare(name), [...variables.keys()].map(bare));
  const group = [...groups].find((g) => name === g || name.startsWith(`${g}_`));
  if (close === null && group === undefined) return;
  const inGroup = [...variables.keys()].filter((v) => group !== undefined && v.startsWith(`${group}_`));
  throw fail(
    'config',
    `the environment has ${name}, which is the name of no key`,
    name,
    close !== null
      ? `did you mean ${PREFIX}${close}? Otherwise unset it`
      : `the names are ${inGroup.join(', ')}; otherwise unset it`,
  );
}

/** Names that begin the variables of one group of keys, such as SKILLOPT_BUDGET. */
const groups: ReadonlySet<string> = new Set(
  configKeys.filter((key) => key.includes('.')).map((key) => variableOf(key.split('.')[0] ?? '')),
);
