import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { configSchema } from '../config/json-schema.ts';
import { fail } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import { sessionPaths } from '../session/paths.ts';
import { writeSchema } from '../session/schema-file.ts';
import type { CommandContext } from './context.ts';
import { shownDir } from './read-state.ts';

/** Prints the JSON Schema of a config, or writes it beside one, where a file of the user's is never overwritten. */
export function printSchema(dir: string, options: { readonly write?: boolean }, { io }: CommandContext): void {
  if (!options.write) {
    const schema = configSchema();
    // not line by line: a line that a terminal breaks would be no JSON
    io.result(schema, [JSON.stringify(schema, null, 2)]);
    return;
  }
  const paths = sessionPaths(resolve(dir));
  if (!existsSync(paths.config) && !existsSync(paths.log))
    throw fail('usage', 'there is no config that the schema could lie beside', paths.dir, 'name the directory of one');
  const came = writeSchema(paths);
  if (came === 'yours')
    throw fail(
      'usage',
      'a file of yours has the name of the schema',
      paths.schema,
      `move it away, or print the schema to a file of another name: skillopt config schema > ${shellWord('my.schema.json')}`,
    );
  const file = shownDir(paths.schema);
  io.result({ schema: paths.schema, written: came === 'written' }, [
    `schema      ${file}${came === 'same' ? ' (as it was)' : ''}`,
    'next        "$schema": "./skillopt.config.schema.json" in the config, and editors check it',
  ]);
}
