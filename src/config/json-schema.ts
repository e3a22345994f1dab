import { z } from 'zod';
import { shortHash } from '../ports/hash.ts';
import { configShape } from './schema.ts';

/** The JSON Schema of `skillopt.config.json`, with what each key means and its default. */
export function configSchema(): Readonly<Record<string, unknown>> {
  const { $schema, required, ...rest } = z.toJSONSchema(configShape, { io: 'input' }) as Record<string, unknown>;
  // see `checkLayers`: there is one where nobody names it
  const needed = (required as readonly string[]).filter((key) => key !== 'optimizer');
  return { $schema, required: needed, title: 'The config of a skillopt session (skillopt.config.json)', ...rest };
}

const COMMENT = 'written by skillopt, fingerprint ';

/** The schema as a file, which `isOurSchema` knows again, also when a later version has written another one. */
export function configSchemaText(): string {
  return textOf(configSchema());
}

/** Nobody has changed this text since some version of this program wrote it. */
export function isOurSchema(text: string): boolean {
  try {
    const { $comment, ...schema } = JSON.parse(text) as Record<string, unknown>;
    return typeof $comment === 'string' && $comment.startsWith(COMMENT) && textOf(schema) === text;
  } catch {
    return false;
  }
}

function textOf({ $schema, ...rest }: Readonly<Record<string, unknown>>): string {
  const $comment = `${COMMENT}${shortHash(JSON.stringify([$schema, rest]))}`;
  return `${JSON.stringify({ $schema, $comment, ...rest }, null, 2)}\n`;
}
