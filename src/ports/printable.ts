/**
 * A text as it may be shown: control characters (line feed and tab apart) and invisible format characters such as
 * bidi overrides appear as `\u{…}`, so that no text of a skill, an optimizer or an agent can steer a terminal.
 */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A name or path as it can be shown: on one line, with nothing in it that steers a terminal. */
export function printableName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A word of a command line, quoted for a POSIX shell where it needs it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
