import type { z } from 'zod';
import { nearest } from './nearest.ts';
import { configShape } from './schema.ts';

type Node = {
  readonly def?: { readonly innerType?: Node; readonly in?: Node; readonly options?: readonly Node[] };
  readonly shape?: Readonly<Record<string, Node>>;
  readonly description?: string;
};

/** The objects that a value may be: none, one, or where it has several forms the objects among them. */
function formsOf(node: Node | undefined): readonly Readonly<Record<string, Node>>[] {
  if (node === undefined) return [];
  if (node.shape !== undefined) return [node.shape];
  const inner = node.def?.innerType ?? node.def?.in;
  if (inner !== undefined) return formsOf(inner);
  return (node.def?.options ?? []).flatMap(formsOf);
}

/** It may be an object and something else, or one of several objects. */
function hasForms(node: Node): boolean {
  const inner = node.def?.innerType ?? node.def?.in;
  return inner === undefined ? node.def?.options !== undefined : hasForms(inner);
}

function nodeAt(path: readonly string[]): Node | null {
  let node: Node | undefined = configShape as unknown as Node;
  for (const key of path) node = formsOf(node).find((form) => Object.hasOwn(form, key))?.[key];
  return node ?? null;
}

/** The keys that the schema knows at a place; of several forms all. */
export function keysAt(path: readonly string[]): string[] {
  return [...new Set(formsOf(nodeAt(path) ?? undefined).flatMap((form) => Object.keys(form)))];
}

/** The keys that may not stand beside `key` at a place, as they belong to another form. */
export function keysOfOtherForms(path: readonly string[], key: string): readonly string[] {
  const forms = formsOf(nodeAt(path) ?? undefined);
  const own = forms.filter((form) => Object.hasOwn(form, key)).flatMap((form) => Object.keys(form));
  return own.length === 0 ? [] : keysAt(path).filter((k) => !own.includes(k));
}

/** What a key's value has to be; null = there is no such key. */
export function schemaAt(key: string): z.ZodType | null {
  return nodeAt(key.split('.')) as unknown as z.ZodType | null;
}

/** What a key means, one line; empty where the schema says nothing. */
export function describedAt(key: string): string {
  return nodeAt(key.split('.'))?.description ?? '';
}

/** Every key with a value of its own, dotted, in the schema's order: `model` and `model.baseUrl`, not `budget`. */
export const configKeys: readonly string[] = leavesBelow([]);

function leavesBelow(path: readonly string[]): string[] {
  return keysAt(path).flatMap((key) => {
    const at = [...path, key];
    const node = nodeAt(at);
    if (node === null) return [];
    const below = leavesBelow(at);
    return below.length === 0 || hasForms(node) ? [at.join('.'), ...below] : below;
  });
}

/** Throws away nothing: the known key that is closest to one that does not exist, and what else could be meant. */
export function unknownKey(key: string): { readonly what: string; readonly fix: string } {
  const path = key.split('.');
  const depth = path.findIndex((_, i) => nodeAt(path.slice(0, i + 1)) === null);
  const known = keysAt(path.slice(0, depth));
  const last = path[depth] ?? '';
  const here = nearest(last, known);
  const near = here === null ? null : [...path.slice(0, depth), here, ...path.slice(depth + 1)].join('.');
  const close =
    known.length === 0
      ? null
      : ((near !== null && schemaAt(near) !== null ? near : null) ??
        nearest(key, configKeys) ??
        configKeys.find((k) => k.endsWith(`.${key}`)) ??
        (here === null ? null : [...path.slice(0, depth), here].join('.')));
  const place = path.slice(0, depth).join('.');
  return {
    what: `unknown key ${key}`,
    fix:
      close !== null
        ? `did you mean ${close}?`
        : known.length === 0
          ? `${place} has no keys of its own`
          : `the keys ${place === '' ? '' : `of ${place} `}are ${known.join(', ')}`,
  };
}
