import { extname } from 'node:path';
import { type Located, located, type Path } from './located.ts';
import type { Losses } from './losses.ts';
import { isRow, testOfRow } from './promptfoo-rows.ts';
import type { SourceFiles } from './source-files.ts';
import { isRecord } from './texts.ts';

/** A test as it stands in a source, and where. */
export type FoundTest = {
  readonly test: Readonly<Record<string, unknown>>;
  /** Place of a value inside of the test. */
  readonly place: (path: Path) => string;
};

const tables = new Set(['.csv']);
const programs = /\.(?:js|cjs|mjs|ts|cts|mts|py)(?::[\w.]+)?$/i;

/**
 * The tests of a config: written in it, or in files that it names. What is no test and can't be read as one is told in
 * `losses`; a file that is there and broken is a failure.
 */
export async function readTests(
  config: Located,
  given: unknown,
  at: Path,
  files: SourceFiles,
  losses: Losses,
): Promise<readonly FoundTest[]> {
  const list = Array.isArray(given) ? (given as readonly unknown[]) : [given];
  const found: FoundTest[] = [];
  for (const [index, entry] of list.entries()) {
    const path = Array.isArray(given) ? [...at, index] : at;
    const where = config.place(path);
    const name = `tests, entry ${index + 1}`;
    if (typeof entry === 'string') found.push(...(await testsOfFiles(entry, where, name, files, losses)));
    else if (isRecord(entry) && typeof entry.path === 'string' && entry.vars === undefined)
      losses.left(where, name, 'tests are made by a program, which is not run here');
    else if (isRecord(entry)) found.push({ test: entry, place: (inner) => config.place([...path, ...inner]) });
    else losses.left(where, name, 'it is neither a test nor the name of a file');
  }
  return found;
}

async function testsOfFiles(
  given: string,
  where: string,
  name: string,
  files: SourceFiles,
  losses: Losses,
): Promise<readonly FoundTest[]> {
  const path = given.replace(/^file:\/\//, '');
  if (path === given && /^[a-z]+:\/\//i.test(given)) {
    losses.left(where, name, `the tests lie elsewhere (${given}); save them as a file and name that`);
    return [];
  }
  if (programs.test(path)) {
    losses.left(where, name, `tests are made by a program (${path}), which is not run here`);
    return [];
  }
  const names = path.includes('*') ? await files.matching(path) : [path];
  if (names.length === 0) losses.left(where, name, `no file fits ${path}`);
  const found: FoundTest[] = [];
  for (const one of names) {
    if (!/\.(?:csv|jsonl?|ndjson|ya?ml)$/i.test(one)) {
      losses.left(where, name, `${one}: tests are read from .yaml, .json, .jsonl and .csv; save it as one of them`);
      continue;
    }
    const reading = await files.read(one);
    if (reading.ok) found.push(...testsIn(located(reading.name, reading.text), reading.name, losses));
    else losses.left(where, name, reading.why);
  }
  return found;
}

/** The tests of a file that holds nothing else. */
export function testsIn(source: Located, file: string, losses: Losses): readonly FoundTest[] {
  const list = Array.isArray(source.value) ? (source.value as readonly unknown[]) : [source.value];
  const isTable = tables.has(extname(file).toLowerCase());
  return list.flatMap((entry, index) => {
    const path: Path = Array.isArray(source.value) ? [index] : [];
    const where = source.place(path);
    if (isRecord(entry)) {
      return isTable || isRow(entry)
        ? [{ test: testOfRow(entry, where, losses), place: () => where }]
        : [{ test: entry, place: (inner: Path) => source.place([...path, ...inner]) }];
    }
    losses.left(where, `entry ${index + 1}`, 'it is no test');
    return [];
  });
}
