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
  const told = issues.flatMap((i) => tell(i, []));
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
      if (path.join('.') === 'splits')
        return [
          {
            what: 'splits is neither a ratio nor three lists of task ids',
            fix: 'write {"ratio": {"train": 1, "selection": 1, "test": 1}} or {"train": [...], "selection": [...], "test": [...]}',
          },
        ];
      return [{ what: `${name}: ${issue.message}`, fix: `correct ${name}` }];
    }
    case 'invalid_value':
      return [{ what: `${name} can’t be that`, fix: `use one of ${issue.values.map(String).join(', ')}` }];
    default:
      return [
        {
          what: `${name}: ${issue.message}`,
          fix: /undefined/.test(issue.message) ? `add "${name}": …` : `correct ${name}`,
        },
      ];
  }
}

/** The keys that the schema knows at a place. */
function keysAt(path: readonly string[]): string[] {
  let shape: unknown = configShape;
  for (const key of path) shape = unwrap((unwrap(shape) as { shape?: Record<string, unknown> }).shape?.[key]);
  const inner = unwrap(shape) as { shape?: Record<string, unknown> };
  return Object.keys(inner.shape ?? {});
}

function unwrap(shape: unknown): unknown {
  let s = shape as { def?: { innerType?: unknown; in?: unknown } } | undefined;
  while (s?.def && ('innerType' in s.def || 'in' in s.def)) s = (s.def.innerType ?? s.def.in) as typeof s;
  return s;
}
