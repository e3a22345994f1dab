import { extname } from 'node:path';
import { located } from './located.ts';
import type { SourceFiles } from './source-files.ts';
import type { Variables } from './templates.ts';
import { isRecord } from './texts.ts';

export type VariablesReading =
  | { readonly ok: true; readonly all: readonly Variables[] }
  | { readonly ok: false; readonly why: string };

/** Most tasks that lists in the variables of one test may make. */
const MOST_COMBINATIONS = 1000;

/**
 * The variables of a test: files that they name are read, and a variable that is a list makes a task of each of its
 * values, in all combinations, unless `expand` is false.
 */
export async function variablesOf(given: unknown, expand: boolean, files: SourceFiles): Promise<VariablesReading> {
  const merged = await merge(given, files);
  if (!merged.ok) return merged;
  let all: readonly Variables[] = [{}];
  for (const [name, value] of Object.entries(merged.variables)) {
    const values: unknown[] = [];
    for (const one of expand && Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      const reading = await fileValues(one, files);
      if (!reading.ok) return { ok: false, why: `the variable ${name}: ${reading.why}` };
      values.push(...reading.values);
    }
    if (all.length * values.length > MOST_COMBINATIONS)
      return { ok: false, why: `its variables make more than ${MOST_COMBINATIONS} combinations` };
    all = all.flatMap((variables) => values.map((one) => ({ ...variables, [name]: one })));
  }
  return { ok: true, all };
}

type Merged = { readonly ok: true; readonly variables: Variables } | { readonly ok: false; readonly why: string };

/** Variables written down, or in a file, or in several. */
async function merge(given: unknown, files: SourceFiles): Promise<Merged> {
  if (given === undefined || given === null) return { ok: true, variables: {} };
  if (isRecord(given)) return { ok: true, variables: given };
  let variables: Variables = {};
  for (const name of Array.isArray(given) ? (given as readonly unknown[]) : [given]) {
    if (typeof name !== 'string') return { ok: false, why: 'its variables are no object' };
    const path = name.replace(/^file:\/\//, '');
    for (const one of path.includes('*') ? await files.matching(path) : [path]) {
      if (!/\.(?:json|ya?ml)$/i.test(one))
        return { ok: false, why: `its variables are in ${one}, which is no .yaml or .json` };
      const reading = await files.read(one);
      if (!reading.ok) return reading;
      const { value } = located(reading.name, reading.text);
      if (!isRecord(value)) return { ok: false, why: `the variables in ${one} are no object` };
      variables = { ...variables, ...value };
    }
  }
  return { ok: true, variables };
}

type Values = { readonly ok: true; readonly values: readonly unknown[] } | { readonly ok: false; readonly why: string };

async function fileValues(value: unknown, files: SourceFiles): Promise<Values> {
  if (typeof value !== 'string' || !value.startsWith('file://')) return { ok: true, values: [value] };
  const path = value.slice('file://'.length);
  const names = path.includes('*') ? await files.matching(path) : [path];
  if (names.length === 0) return { ok: false, why: `no file fits ${path}` };
  const values: unknown[] = [];
  for (const name of names) {
    if (/\.(?:js|cjs|mjs|ts|cts|mts|py|rb)(?::[\w.]+)?$/i.test(name))
      return { ok: false, why: `${name} is a program, which is not run here` };
    const reading = await files.read(name);
    if (!reading.ok) return reading;
    const isYaml = /^\.ya?ml$/i.test(extname(reading.name));
    values.push(isYaml ? JSON.stringify(located(reading.name, reading.text).value) : reading.text.trim());
  }
  return { ok: true, values };
}

/** The value of an assert that names a file: data of a .json or .yaml, text of a .txt. */
export async function fileValue(
  name: string,
  files: SourceFiles,
): Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string }> {
  const path = name.slice('file://'.length);
  if (!/\.(?:json|ya?ml|txt)$/i.test(path))
    return { ok: false, why: `${path} is a program, or of a form that is not read` };
  const reading = await files.read(path);
  if (!reading.ok) return reading;
  return { ok: true, value: /\.txt$/i.test(path) ? reading.text.trim() : located(reading.name, reading.text).value };
}
