import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { fail, type SkilloptError } from '../ports/failure.ts';
import { nearest } from './nearest.ts';
import { type Config, configShape } from './schema.ts';

export const CONFIG_FILE = 'skillopt.config.json';

/** Reads and checks a config file. Errors name the key, the file and the nearest key that exists. */
export function loadConfig(path: string): Config {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ENOENT')
      throw fail(
        'config',
        'there is no config',
        path,
        `write a ${CONFIG_FILE} there, or run \`skillopt demo\` to see one`,
        { cause },
      );
    throw fail(
      'config',
      `the config can’t be read (${(cause as { code?: string }).code ?? String(cause)})`,
      path,
      'make it a file that you may read',
      { cause },
    );
  }
  return parseConfig(text, path);
}

/** Checks the text of a config; `where` is its file, for messages. */
export function parseConfig(text: string, where: string): Config {
  let data: unknown;
  try {
    data = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw fail(
      'config',
      `the config is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      `${where}${placeOf(text)}`,
      'mend the JSON there',
      { cause },
    );
  }
  return checkConfig(data, where);
}

/** `:line:column` of what is wrong in a text that is not JSON, where it is no YAML either; else empty. */
function placeOf(text: string): string {
  const at = parseDocument(text, { strict: true }).errors[0]?.linePos?.[0];
  return at ? `:${at.line}:${at.col}` : '';
}

/** Checks a config given as data. */
export function checkConfig(data: unknown, where: string): Config {
  const parsed = configShape.safeParse(data);
  if (parsed.success) return parsed.data;
  throw explain(parsed.error.issues, where);
}

function explain(issues: readonly z.core.$ZodIssue[], where: string): SkilloptError {
  // a key that is written wrong is missing too: the one that is there is told first
  const told = issues.flatMap((i) => tell(i, [])).sort((a, b) => rank(a) - rank(b));
  const [first] = told;
  const more =
    told.length > 1
      ? ` (and ${told.length - 1} more: ${told
          .slice(1)
          .map((t) => t.what)
          .join('; ')})`
      : '';
  return fail(
    'config',
    `${first?.what ?? 'the config is not valid'}${more}`,
    where,
    first?.fix ?? 'the keys stand in the README under “Your own skill and pack”',
  );
}

const rank = ({ what }: Told): number => (what.startsWith('unknown key ') ? 0 : 1);

type Told = { readonly what: string; readonly fix: string };

function tell(issue: z.core.$ZodIssue, at: readonly PropertyKey[]): readonly Told[] {
  const path = [...at, ...issue.path].map(String);
  const name = path.join('.') || 'the config';
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const known = keysAt(path);
        const close = nearest(key, known);
        return {
          what: `unknown key ${[...path, key].join('.')}`,
          fix: close ? `did you mean ${[...path, close].join('.')}?` : `the keys here are ${known.join(', ')}`,
        };
      });
    case 'invalid_union': {
      const form = forms[name];
      // where one form is meant and a key of it is wrong, that key is told
      const meant = issue.errors.filter((list) => !list.some((i) => i.code === 'invalid_type' && i.path.length === 0));
      const [only] = meant;
      if (only !== undefined && meant.length === 1 && name !== 'splits') return only.flatMap((i) => tell(i, path));
      return [{ what: form?.what ?? `${name}: ${issue.message}`, fix: form?.fix ?? `correct ${name}` }];
    }
    case 'invalid_value':
      return [{ what: `${name} can’t be that`, fix: `use one of ${issue.values.map(String).join(', ')}` }];
    default:
      return /received undefined/.test(issue.message)
        ? [{ what: `${name} is missing`, fix: `add "${name}": …` }]
        : [{ what: `${name}: ${issue.message}`, fix: `correct ${name}` }];
  }
}

const modelForm = (name: string) => ({
  what: `${name} is neither a name nor an object`,
  fix: 'write "provider/model", or {"model": "provider/model", "baseUrl": "http://localhost:8000/v1"}',
});

/** What may be given in more than one form. */
const forms: Readonly<Record<string, Told>> = {
  splits: {
    what: 'splits is neither a ratio nor three lists of task ids',
    fix: 'write {"ratio": {"train": 1, "selection": 1, "test": 1}} or {"train": [...], "selection": [...], "test": [...]}',
  },
  editBudget: {
    what: 'editBudget is neither a number nor a schedule',
    fix: 'write a whole number of at least 1, null, or {"schedule": "linear", "max": 6, "min": 1}',
  },
  model: modelForm('model'),
  optimizer: modelForm('optimizer'),
};

/** The keys that the schema knows at a place. */
function keysAt(path: readonly string[]): string[] {
  let shape: unknown = configShape;
  for (const key of path) shape = unwrap((unwrap(shape) as { shape?: Record<string, unknown> }).shape?.[key]);
  const inner = unwrap(shape) as { shape?: Record<string, unknown> };
  return Object.keys(inner.shape ?? {});
}

function unwrap(shape: unknown): unknown {
  type Wrapped = { def?: { innerType?: unknown; in?: unknown; options?: readonly unknown[] }; shape?: unknown };
  let s = shape as Wrapped | undefined;
  for (;;) {
    if (s?.def?.innerType !== undefined || s?.def?.in !== undefined) s = (s.def.innerType ?? s.def.in) as Wrapped;
    else if (s?.def?.options !== undefined)
      s = s.def.options.map((o) => unwrap(o) as Wrapped).findLast((o) => o?.shape !== undefined); // of several forms the object
    else return s;
  }
}
