import { configSchemaText, isOurSchema } from '../config/json-schema.ts';
import { diskFailure } from '../journal/journal.ts';
import { writeWhole } from '../journal/texts.ts';
import { readIfThere } from './own-document.ts';
import type { SessionPaths } from './paths.ts';

/**
 * Writes the JSON Schema beside a session's config, for editors. `yours`: a file of that name which this program did not
 * write lies there, and it is left as it is. Throws `disk`.
 */
export function writeSchema(paths: SessionPaths): 'written' | 'same' | 'yours' {
  const existing = readIfThere(paths.schema);
  const text = configSchemaText();
  if (existing === text) return 'same';
  if (existing !== null && !isOurSchema(existing)) return 'yours';
  try {
    writeWhole(paths.schema, text);
  } catch (cause) {
    throw diskFailure('the schema can’t be written', paths.schema, cause);
  }
  return 'written';
}
