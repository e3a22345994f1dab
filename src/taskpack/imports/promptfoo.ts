import { basename } from 'node:path';
import type { PromptDraft, PromptImport } from './imported.ts';
import { type Located, located } from './located.ts';
import { Losses } from './losses.ts';
import { type PromptForm, readPrompts } from './promptfoo-prompts.ts';
import { type Defaults, TestReader } from './promptfoo-task.ts';
import { readTests, testsIn } from './promptfoo-tests.ts';
import type { SourceFiles } from './source-files.ts';
import { isRecord } from './texts.ts';

/** Keys of a config that say nothing about tasks. */
const unusedKeys = `commandLineOptions derivedMetrics env evaluateOptions extensions metadata nunjucksFilters outputPath
  providers redteam sharing tags targets tracing`.split(/\s+/);
const usedKeys = ['$schema', 'assertionTemplates', 'defaultTest', 'description', 'prompts', 'scenarios', 'tests'];

/**
 * Reads a config with its prompts and tests, or a file of tests alone. A test becomes a task with the first prompt that
 * is meant for it. `file`: as `files` knows it.
 */
export async function readPromptfoo(file: string, text: string, files: SourceFiles): Promise<PromptImport> {
  const losses = new Losses();
  const source = located(file, text);
  const isConfig = isRecord(source.value) && !('vars' in source.value) && !('assert' in source.value);
  const config: Located = isConfig ? source : { value: {}, place: () => file };
  const keys = isRecord(config.value) ? config.value : {};
  for (const key of Object.keys(keys)) {
    const where = config.place([key]);
    if (key === 'scenarios') losses.left(where, 'scenarios', 'tests made of two lists; write them out as tests');
    else if (unusedKeys.includes(key)) losses.unused(where, key, 'it says nothing about tasks');
    else if (!usedKeys.includes(key)) losses.unused(where, key, 'a key that is not known here');
  }
  const prompts = await readPrompts(config, files, losses);
  const tests = isConfig
    ? keys.tests === undefined
      ? []
      : await readTests(config, keys.tests, ['tests'], files, losses)
    : testsIn(source, file, losses);
  const base = await defaultsOf(config, keys.defaultTest, files, losses);
  for (const form of prompts.slice(1))
    if (!tests.some(({ test }) => choose(prompts, test) === form))
      losses.left(form.where, 'another prompt', 'one question in two wordings would count twice; the first is used');
  const made: PromptDraft[] = [];
  let entries = 0;
  for (const [index, found] of tests.entries()) {
    const reader = new TestReader(index + 1, found, base, config, files, losses);
    const result = await reader.tasks(choose(prompts, found.test));
    entries += result.entries;
    made.push(...result.tasks);
  }
  return { kind: 'prompts', tasks: made, files: [], losses: losses.all(), entries };
}

/** The first prompt that a test may have: of those it names, or of all. */
function choose(prompts: readonly PromptForm[], test: Readonly<Record<string, unknown>>): PromptForm | null {
  if (!Array.isArray(test.prompts)) return prompts[0] ?? null;
  const wanted = test.prompts.map(String);
  const fits = (label: string) =>
    wanted.some(
      (one) =>
        one === label || label.startsWith(`${one}:`) || (one.endsWith('*') && label.startsWith(one.slice(0, -1))),
    );
  return prompts.find(({ labels }) => labels.some(fits)) ?? null;
}

async function defaultsOf(config: Located, given: unknown, files: SourceFiles, losses: Losses): Promise<Defaults> {
  const here: Defaults = { test: {}, place: (path) => config.place(['defaultTest', ...path]) };
  if (given === undefined || given === null) return here;
  if (isRecord(given)) return { ...here, test: given };
  const where = config.place(['defaultTest']);
  const reading = typeof given === 'string' ? await files.read(given.replace(/^file:\/\//, '')) : null;
  if (reading?.ok !== true) losses.left(where, 'defaultTest', reading?.why ?? 'it is no test');
  const source = reading?.ok === true ? located(reading.name, reading.text) : null;
  return isRecord(source?.value) ? { test: source.value, place: source.place } : here;
}

/** Names under which a folder holds such a config. */
export const promptfooNames = ['yaml', 'yml', 'json'].map((ending) => `promptfooconfig.${ending}`);

/** Whether a value looks like such a config, or like a list of tests. */
export function isPromptfoo(value: unknown, file: string): boolean {
  if (isRecord(value))
    return (
      promptfooNames.includes(basename(file)) || ('tests' in value && ('prompts' in value || 'providers' in value))
    );
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every(
    (entry) =>
      isRecord(entry) &&
      ('vars' in entry || 'assert' in entry || Object.keys(entry).some((key) => key.startsWith('__expected'))),
  );
}
