import { basename, extname } from 'node:path';
import { type Located, located, type Path } from './located.ts';
import type { Losses } from './losses.ts';
import type { SourceFiles } from './source-files.ts';
import { isRecord, scalarText } from './texts.ts';

/** A prompt as templates: what the model is told before the skill, and what it is asked. */
export type PromptForm = {
  readonly where: string;
  /** Names by which tests may choose it. */
  readonly labels: readonly string[];
  readonly system: string | null;
  readonly user: string;
};

/** What stands where no prompt is given. */
const throughOnly: PromptForm = { where: '', labels: [], system: null, user: '{{prompt}}' };

const programs = /^exec:|\.(?:js|cjs|mjs|ts|cts|mts|py|rb|sh|bash|pl|php)(?::[\w.]+)?$/i;
const texts = /\.(?:txt|md|j2|json|jsonl|ya?ml|csv)$/i;

/** Reads the prompts of a config, in their order. What can't be a prompt of a pack is told in `losses`. */
export async function readPrompts(config: Located, files: SourceFiles, losses: Losses): Promise<readonly PromptForm[]> {
  const given = isRecord(config.value) ? config.value.prompts : undefined;
  if (given === undefined || given === null) return [throughOnly];
  // a map gives a file and its label
  const list: readonly (readonly [Path, unknown])[] = Array.isArray(given)
    ? given.map((entry: unknown, index) => [['prompts', index], entry] as const)
    : isRecord(given)
      ? Object.entries(given).map(([id, label]) => [['prompts', id], { id, label }] as const)
      : [[['prompts'], given]];
  const forms: PromptForm[] = [];
  for (const [index, [path, entry]] of list.entries()) {
    const where = config.place(path);
    const name = `prompt ${index + 1}`;
    const record = isRecord(entry) ? entry : null;
    const label = record === null ? null : scalarText(record.label);
    const text = record === null ? entry : (record.raw ?? record.id ?? record.file);
    if (typeof text !== 'string' || text.trim() === '') {
      losses.left(where, name, 'it holds no text');
      continue;
    }
    const labels = [label, record === null ? null : scalarText(record.id), text].filter((one) => one !== null);
    const found = await textsOf(text, files);
    if (!found.ok) losses.left(where, name, found.why);
    else
      for (const part of found.parts) {
        const form = formOf(part.text);
        if (form.ok) forms.push({ where: part.where ?? where, labels, system: form.system, user: form.user });
        else losses.left(part.where ?? where, name, form.why);
      }
  }
  return forms;
}

type Parts =
  | { readonly ok: true; readonly parts: readonly { readonly where: string | null; readonly text: string }[] }
  | { readonly ok: false; readonly why: string };

/** The texts of an entry: its own, or those of the files that it names. */
async function textsOf(text: string, files: SourceFiles): Promise<Parts> {
  const word = !/\s/.test(text) && !text.includes('{{');
  const isFile = text.startsWith('file://') || (word && (texts.test(text) || programs.test(text)));
  if (programs.test(text) && (isFile || text.startsWith('exec:')))
    return { ok: false, why: 'it is made by a program, which is not run here' };
  if (/^[a-z]+:\/\//.test(text) && !isFile) return { ok: false, why: 'it is kept by another service' };
  if (!isFile) return { ok: true, parts: [{ where: null, text }] };
  const name = text.replace(/^file:\/\//, '');
  const names = name.includes('*') ? await files.matching(name) : [name];
  if (names.length === 0) return { ok: false, why: `no file fits ${name}` };
  const parts: { readonly where: string; readonly text: string }[] = [];
  for (const one of names) {
    if (!texts.test(one)) return { ok: false, why: `${basename(one)} is no text file that prompts stand in` };
    const reading = await files.read(one);
    if (!reading.ok) return { ok: false, why: reading.why };
    for (const part of partsOf(reading.name, reading.text)) parts.push({ where: reading.name, text: part });
  }
  return { ok: true, parts };
}

/** The prompts in a file: in a .txt parted by lines of `---`, one a line of a .jsonl, the column `prompt` of a .csv. */
function partsOf(file: string, text: string): readonly string[] {
  switch (extname(file).toLowerCase()) {
    case '.txt':
      return text
        .split(/^[ \t]*---[ \t]*\r?$/m)
        .map((part) => part.trim())
        .filter((part) => part !== '');
    case '.jsonl':
      return text.split('\n').filter((line) => line.trim() !== '');
    case '.csv': {
      const rows = located(file, text).value;
      return (Array.isArray(rows) ? rows : []).flatMap((row: unknown) =>
        isRecord(row) ? (scalarText(row.prompt) ?? []) : [],
      );
    }
    case '.yml':
    case '.yaml':
      return [JSON.stringify(located(file, text).value)];
    default:
      return [text];
  }
}

type FormOrWhy =
  | { readonly ok: true; readonly system: string | null; readonly user: string }
  | { readonly ok: false; readonly why: string };

/** A text, or a list of messages: some of the system, then one of the user. */
function formOf(text: string): FormOrWhy {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: true, system: null, user: text };
  }
  if (typeof value === 'string') return { ok: true, system: null, user: value };
  if (!Array.isArray(value)) return { ok: false, why: 'it is JSON, and no list of messages' };
  const messages = value.map((message: unknown) => (isRecord(message) ? message : {}));
  const last = messages.at(-1);
  const before = messages.slice(0, -1);
  if (last?.role !== 'user' || !before.every(({ role }) => role === 'system' || role === 'developer'))
    return { ok: false, why: 'it is a conversation of several turns; a task has one' };
  const contents = messages.map(({ content }) => content);
  if (!contents.every((content) => typeof content === 'string'))
    return { ok: false, why: 'its messages hold more than text' };
  const system = contents.slice(0, -1).join('\n\n');
  return { ok: true, system: system === '' ? null : system, user: contents.at(-1) ?? '' };
}
