import type { CheckEntry } from './imported.ts';
import type { Path } from './located.ts';
import type { Losses } from './losses.ts';
import { checkOfAssert, whyNoCheck } from './promptfoo-assert.ts';
import { fileValue } from './promptfoo-variables.ts';
import type { SourceFiles } from './source-files.ts';
import { isTemplate, render, type Variables } from './templates.ts';
import { isRecord } from './texts.ts';

/** An assert as it stands in a source, with its number in the test and the place of its parts. */
export type FoundAssert = {
  readonly assert: unknown;
  readonly name: string;
  readonly place: (path: Path) => string;
};

/** What the checks of a test follow from beside its asserts. */
export type Around = {
  readonly variables: Variables;
  readonly files: SourceFiles;
  readonly losses: Losses;
  /** Follows a `$ref` into the config; undefined = it leads nowhere. */
  readonly refer: (ref: string) => unknown;
};

/** As checks allow it. */
const MOST_WEIGHT = 1e6;

/** The checks of some asserts. Each assert is in a check, or told in `losses`. */
export async function checksOf(asserts: readonly FoundAssert[], around: Around): Promise<readonly CheckEntry[]> {
  const checks: CheckEntry[] = [];
  for (const found of asserts) checks.push(...(await checksOfOne(found, 1, around)));
  return checks;
}

/** `share`: what a weight of 1 counts for here, as a part of a set. */
async function checksOfOne(found: FoundAssert, share: number, around: Around): Promise<readonly CheckEntry[]> {
  const where = found.place([]);
  const left = (why: string, type = ''): readonly CheckEntry[] => {
    around.losses.left(where, type === '' ? found.name : `${found.name} (${type})`, why);
    return [];
  };
  const given = isRecord(found.assert) ? referred(found.assert, around) : found.assert;
  if (!isRecord(given) || typeof given.type !== 'string') return left('it is no assert with a type');
  const { type } = given;
  if (type === 'assert-set') return checksOfSet(given, share, found, around, left);
  const weight = given.weight ?? 1;
  if (!isWeight(weight)) return left(whyNoWeight(weight), type);
  const why = whyNoCheck(type);
  if (why !== null) return left(why, type);
  if (given.transform !== undefined) return left('the answer is worked on by a program before', type);
  const value = await assertValue(given.value, around);
  if (!value.ok) return left(value.why, type);
  const made = checkOfAssert(type, value.value);
  if (!made.ok) return left(made.why, type);
  if (made.changed !== undefined) around.losses.changed(where, `${found.name} (${type})`, made.changed);
  if (given.metric !== undefined) around.losses.unused(where, 'metric', 'checks have no names');
  const counts = weight * share;
  return [counts === 1 ? made.check : { ...made.check, weight: counts }];
}

/** A set counts as one assert, and its own weights part that. */
async function checksOfSet(
  set: Readonly<Record<string, unknown>>,
  share: number,
  found: FoundAssert,
  around: Around,
  left: (why: string, type?: string) => readonly CheckEntry[],
): Promise<readonly CheckEntry[]> {
  const parts = Array.isArray(set.assert) ? (set.assert as readonly unknown[]) : [];
  const inner = parts.map((assert, index) => ({
    assert,
    name: `${found.name}.${index + 1}`,
    place: (path: Path) => found.place(['assert', index, ...path]),
  }));
  if (inner.length === 0) return left('the set is empty', 'assert-set');
  const weight = set.weight ?? 1;
  const why = !isWeight(weight)
    ? whyNoWeight(weight)
    : typeof set.threshold === 'number'
      ? 'a set with a threshold passes with some of its parts; checks have no sets'
      : null;
  if (!isWeight(weight) || why !== null) {
    for (const one of inner) around.losses.left(one.place([]), one.name, 'it is in a set that is left');
    return left(why ?? '', 'assert-set');
  }
  const counts = weight * share;
  const weights = parts.map((part) => (isRecord(part) && typeof part.weight === 'number' ? part.weight : 1));
  const sum = weights.reduce((total, weight) => total + Math.max(weight, 0), 0);
  const checks: CheckEntry[] = [];
  for (const one of inner) checks.push(...(await checksOfOne(one, sum > 0 ? counts / sum : counts, around)));
  return checks;
}

function isWeight(weight: unknown): weight is number {
  return typeof weight === 'number' && weight > 0 && weight <= MOST_WEIGHT;
}

function whyNoWeight(weight: unknown): string {
  return weight === 0 ? 'with a weight of 0 it decides nothing' : 'its weight is no number above 0';
}

function referred(assert: Readonly<Record<string, unknown>>, around: Around): unknown {
  return typeof assert.$ref === 'string' ? around.refer(assert.$ref) : assert;
}

type Value = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

/** The value of an assert, with what files hold and variables stand for. */
async function assertValue(given: unknown, around: Around): Promise<Value> {
  if (typeof given === 'string') {
    if (given.startsWith('file://')) return fileValue(given, around.files);
    if (given.startsWith('package:'))
      return { ok: false, why: 'its value comes from a program, which is not run here' };
    return rendered(given, around.variables);
  }
  if (Array.isArray(given)) {
    const values: unknown[] = [];
    for (const item of given as readonly unknown[]) {
      const value = typeof item === 'string' ? await assertValue(item, around) : { ok: true as const, value: item };
      if (!value.ok) return value;
      values.push(value.value);
    }
    return { ok: true, value: values };
  }
  if (isRecord(given) && isTemplate(JSON.stringify(given)))
    return { ok: false, why: 'its value is JSON with a template in it' };
  return { ok: true, value: given };
}

function rendered(template: string, variables: Variables): Value {
  const text = render(template, variables);
  return text.ok ? { ok: true, value: text.text } : text;
}
