import { basename } from 'node:path';
import { describedAt } from '../config/keys.ts';
import { type ConfigRow, configRows, type Source, sourceText } from '../config/layers.ts';
import { checkConfig, readConfigFile } from '../config/load.ts';
import { variables } from '../config/overrides.ts';
import { SkilloptError } from '../ports/failure.ts';
import { effectiveConfig, refuseOther } from '../session/effective-config.ts';
import { loggedOf } from '../session/logged-of.ts';
import { sessionPaths } from '../session/paths.ts';
import type { CommandContext } from './context.ts';
import { flagsOf, type KeyFlags } from './layered-config.ts';
import type { OverrideOptions } from './override-options.ts';
import { sessionPlace } from './session-place.ts';

export type ConfigShowOptions = OverrideOptions & KeyFlags & { readonly changed?: boolean };

/** Prints every key of the config that a run would have, with where its value comes from. Writes nothing. */
export function configShow(given: string, options: ConfigShowOptions, context: CommandContext): void {
  const flags = flagsOf(options);
  const place = sessionPlace(given, flags);
  const paths = sessionPaths(place.dir);
  const logged = loggedOf(paths);
  if (place.config === null && logged.created === null) readConfigFile(paths.config); // says that there is none
  const effective = effectiveConfig(place.config, place.flags, logged, paths);
  const all = configRows(effective.config, effective.layers);
  const rows = options.changed ? all.filter(({ source }) => source.kind !== 'default') : all;
  const notes: string[] = [...flags.taken.map((taken) => `taken: ${taken}`)];
  if (logged.created !== null) {
    try {
      refuseOther(checkConfig(logged.created.config, paths.log), effective, paths);
    } catch (e) {
      if (!(e instanceof SkilloptError)) throw e;
      notes.push(`run will refuse this: ${e.failure.what} (${e.failure.where}); ${e.failure.fix}`);
    }
  }
  const variableOf = new Map([...variables].map(([variable, key]) => [key, variable]));
  context.io.result(
    {
      directory: place.dir,
      keys: rows.map(({ key, value, source }) => ({
        key,
        value,
        source,
        variable: variableOf.get(key) ?? null,
        meaning: describedAt(key),
      })),
      notes,
    },
    [...table(rows), ...notes.map((note) => `note        ${note}`)],
  );
}

/** Longest value that is shown whole; `--json` has all of it. */
const MOST = 48;

function table(rows: readonly ConfigRow[]): readonly string[] {
  const cells = rows.map(({ key, value, source }) => [key, valueText(value), sourceName(source)] as const);
  const width = (column: 0 | 1) => Math.max(0, ...cells.map((row) => Bun.stringWidth(row[column])));
  const pad = (text: string, to: number) => text + ' '.repeat(to - Bun.stringWidth(text));
  const [keys, values] = [width(0), width(1)];
  return cells.map(([key, value, source]) => `${pad(key, keys)}  ${pad(value, values)}  ${source}`);
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text;
}

/** A source in few words: the flag without its value, the file without its folder. */
function sourceName(source: Source): string {
  switch (source.kind) {
    case 'file':
      return basename(source.path);
    case 'flag':
      return source.flag.startsWith('--cfg-options') ? source.flag : source.flag.replace(/[ =].*$/s, '');
    case 'log':
      return 'session log';
    case 'default':
    case 'environment':
      return sourceText(source);
    default:
      return source satisfies never;
  }
}
