import type { Config } from './schema.ts';

/** One key that differs between the config of a session and the file as it is now. */
export type Difference = { readonly key: string; readonly was: unknown; readonly is: unknown };

/** Keys that may change while a session goes on; everything else is another session. */
const inPlace = [
  'budget.rollouts',
  'limits.rollouts',
  'limits.minutes',
  'limits.usd',
  'limits.tokens',
  'workers',
  'reflection.agentSec',
  'allowUnsandboxed',
  'sandbox.keepMb',
  'finalize.attempts',
  '$schema',
];

/** How a model is reached and paid may change, what answers may not. */
const howReached = /^(model|optimizer)\.(keyEnv|price\..*|price|firstByteSec|betweenSec|protocols|contextTokens)$/;

const isInPlace = (d: Difference): boolean => inPlace.includes(d.key) || howReached.test(d.key);

/** Compares two configs key by key, objects by their leaves. */
export function differences(
  was: unknown,
  is: Partial<Config>,
): { readonly inPlace: readonly Difference[]; readonly fork: readonly Difference[] } {
  const before = leaves(was);
  const after = leaves(is);
  const all: Difference[] = [];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const a = before.get(key);
    const b = after.get(key);
    if (JSON.stringify(a) !== JSON.stringify(b)) all.push({ key, was: a, is: b });
  }
  return { inPlace: all.filter(isInPlace), fork: all.filter((d) => !isInPlace(d)) };
}

function leaves(x: unknown, at = ''): Map<string, unknown> {
  const out = new Map<string, unknown>();
  if (x === null || typeof x !== 'object' || Array.isArray(x)) return out.set(at, x);
  for (const [key, value] of Object.entries(x))
    for (const [k, v] of leaves(value, at === '' ? key : `${at}.${key}`)) out.set(k, v);
  return out;
}
