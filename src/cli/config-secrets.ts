import type { Config } from '../config/schema.ts';
import type { Redactor } from '../journal/redact.ts';
import { fail } from '../ports/failure.ts';

/**
 * Throws `config` when a value of a config holds a secret, such as a key among the arguments of a command; `placeOf` says
 * where the value of a key stands.
 */
export async function refuseSecrets(config: Config, placeOf: (key: string) => string, redact: Redactor): Promise<void> {
  const texts = textsOf(config, []);
  const all = texts.map(({ text }) => text).join('\n');
  if ((await redact(all)) === all) return;
  for (const { key, text } of texts)
    if ((await redact(text)) !== text)
      throw fail(
        'config',
        `${key} holds a secret, which would stand in the log`,
        placeOf(key),
        'take it out of the config; keep it in an environment variable, which programs read by themselves',
      );
}

type Text = { readonly key: string; readonly text: string };

function textsOf(value: unknown, at: readonly string[]): readonly Text[] {
  if (typeof value === 'string') return [{ key: at.join('.'), text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsOf(inner, [...at, key]));
}
