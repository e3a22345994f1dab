import { nearest } from './nearest.ts';

/** What stands between braces in a text: `{name}` is filled in, `{{name}}` is the text `{name}`, and `${name}` is a shell's. */
const mark = /\{\{([a-z][a-z0-9_]*)\}\}|\$\{[a-z][a-z0-9_]*\}|\{([a-z][a-z0-9_]*)\}/g;

/** Names of the placeholders in a text, each once. */
export function placeholdersIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(mark)].flatMap(([, , name]) => name ?? []))];
}

/** The text with its placeholders filled in. What is filled in is never looked at again; an unknown name stays. */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(mark, (whole, literal: string | undefined, name: string | undefined) => {
    if (literal !== undefined) return `{${literal}}`;
    return name !== undefined && Object.hasOwn(values, name) ? (values[name] ?? '') : whole;
  });
}

/** What is wrong with the placeholders of a text, in words; null = nothing. */
export function placeholderProblem(text: string, known: readonly string[]): string | null {
  const unknown = placeholdersIn(text).find((name) => !known.includes(name));
  if (unknown === undefined) return null;
  const close = nearest(unknown, known);
  const hint =
    close !== null
      ? `did you mean {${close}}?`
      : known.length === 0
        ? 'none can stand here;'
        : `there are ${known.map((name) => `{${name}}`).join(', ')};`;
  return `{${unknown}} is no placeholder: ${hint} {{${unknown}}} stands for the text itself`;
}
