import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { AGENT_OPTIMIZER } from '../events/optimizer-words.ts';
import { fail, type SkilloptError } from '../ports/failure.ts';
import { formText } from './forms.ts';
import { keysAt } from './keys.ts';
import { nearest } from './nearest.ts';
import { type Config, configShape } from './schema.ts';

export const CONFIG_FILE = 'skillopt.config.json';

/** Reads and checks a config file. Errors name the key, the file and the nearest key that exists. */
export function loadConfig(path: string): Config {
  return checkConfig(readConfigFile(path), path);
}

/** What stands in a config file, unchecked. Throws `config` when there is none, when it can't be read or is no JSON. */
export function readConfigFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ENOENT')
      throw fail(
        'config',
        'there is no config',
        path,
        `write a ${CONFIG_FILE} there: \`skillopt run --help\` shows one; \`skillopt demo\` brings its own`,
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

/** What the text of a config holds, unchecked; `where` is its file, for messages. */
export function parseConfig(text: string, where: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw fail(
      'config',
      `the config is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      `${where}${placeOf(text)}`,
      'mend the JSON there',
      { cause },
    );
  }
}

/** `:line:column` of what is wrong in a text that is not JSON, where it is no YAML either; else empty. */
function placeOf(text: string): string {
  const at = parseDocument(text, { strict: true }).errors[0]?.linePos?.[0];
  return at ? `:${at.line}:${at.col}` : '';
}

/** Checks a config given as data; `where` is its file, for messages. */
export function checkConfig(data: unknown, where: string): Config {
  return checkLayers(data, () => where);
}

/** Checks a config given as data; `placeOf` says where the value of a dotted key stands (an empty key: all of it). */
export function checkLayers(data: unknown, placeOf: (key: string) => string): Config {
  const parsed = configShape.safeParse(withOptimizer(data));
  if (parsed.success) return parsed.data;
  throw explain(parsed.error.issues, placeOf);
}

/**
 * Who proposes edits where nobody says so: the agent, where it has a login of its own and so no key is at hand; else the
 * model that does the tasks.
 */
function withOptimizer(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || Array.isArray(data) || 'optimizer' in data) return data;
  const { login, model } = data as { readonly login?: unknown; readonly model?: unknown };
  if (login === 'subscription') return { ...data, optimizer: AGENT_OPTIMIZER };
  return model === undefined || model === null ? data : { ...data, optimizer: model };
}

function explain(issues: readonly z.core.$ZodIssue[], placeOf: (key: string) => string): SkilloptError {
  // a key that is written wrong is missing too: the one that is there is told first
  const told = issues.flatMap((i) => tell(i, [])).sort((a, b) => rank(a) - rank(b));
  const [first] = told;
  const where = placeOf(first?.key ?? '');
  const elsewhere = (t: Told) => (placeOf(t.key) === where ? t.what : `${t.what} (${placeOf(t.key)})`);
  const more = told.length > 1 ? ` (and ${told.length - 1} more: ${told.slice(1).map(elsewhere).join('; ')})` : '';
  return fail(
    'config',
    `${first?.what ?? 'the config is not valid'}${more}`,
    where,
    first?.fix ?? '`skillopt run --help` and docs/config.md have the keys',
  );
}

const rank = ({ what }: Told): number => (what.startsWith('unknown key ') ? 0 : 1);

type Told = { readonly key: string; readonly what: string; readonly fix: string };

const isAbsent = (issue: { readonly message: string }) => /received undefined/.test(issue.message);

const missing = (path: readonly string[]): Told => {
  const key = path.join('.');
  return { key, what: `${key || 'the config'} is missing`, fix: `add "${key}": …` };
};

function tell(issue: z.core.$ZodIssue, at: readonly PropertyKey[]): readonly Told[] {
  const path = [...at, ...issue.path].map(String);
  const name = path.join('.') || 'the config';
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const known = keysAt(path);
        const close = nearest(key, known);
        return {
          key: [...path, key].join('.'),
          what: `unknown key ${[...path, key].join('.')}`,
          fix: close ? `did you mean ${[...path, close].join('.')}?` : `the keys here are ${known.join(', ')}`,
        };
      });
    case 'invalid_union': {
      if (issue.errors.every((list) => list.some((i) => i.path.length === 0 && isAbsent(i)))) return [missing(path)];
      const form = forms[name];
      // where one form is meant and a key of it is wrong, that key is told
      const meant = issue.errors.filter((list) => !list.some((i) => i.code === 'invalid_type' && i.path.length === 0));
      const [only] = meant;
      if (only !== undefined && meant.length === 1 && name !== 'splits') return only.flatMap((i) => tell(i, path));
      return [
        { key: path.join('.'), what: form?.what ?? `${name}: ${issue.message}`, fix: form?.fix ?? `correct ${name}` },
      ];
    }
    case 'invalid_value':
      return [
        {
          key: path.join('.'),
          what: `${name} can’t be that`,
          fix: `use one of ${issue.values.map(String).join(', ')}`,
        },
      ];
    default: {
      if (isAbsent(issue)) return [missing(path)];
      const key = path.join('.');
      const form = /^(?:invalid_type|too_small|too_big)$/.test(issue.code) ? formText(key) : null; // else its own words
      return form === null
        ? [{ key, what: `${name}: ${issue.message}`, fix: `correct ${name}` }]
        : [{ key, what: `${name} can’t be that`, fix: `it has to be ${form}` }];
    }
  }
}

const modelForm = (name: string) => ({
  what: `${name} is neither a name nor an object`,
  fix: 'write "provider/model", or {"model": "provider/model", "baseUrl": "http://localhost:8000/v1"}',
});

/** What may be given in more than one form. */
const forms: Readonly<Record<string, Omit<Told, 'key'>>> = {
  splits: {
    what: 'splits is neither a ratio nor three lists of task ids',
    fix: 'write {"ratio": {"train": 1, "selection": 1, "test": 1}} or {"train": [...], "selection": [...], "test": [...]}',
  },
  editBudget: {
    what: 'editBudget is neither a number nor a schedule',
    fix: 'write a whole number of at least 1, null, or {"schedule": "linear", "max": 6, "min": 1}',
  },
  agent: {
    what: 'agent is neither a name nor a description of one',
    fix: 'write the name of an agent, or {"name": "my-agent", "command": ["my-agent", "--skill", "{skill_dir}"]}',
  },
  model: modelForm('model'),
  optimizer: modelForm('optimizer'),
};
