/** A character that steers a terminal or turns the text around it, and its line, from 1. */
export type SteeringCharacter = { readonly character: string; readonly line: number };

/** C0 but tab, LF and CR; DEL; C1; the overrides, embeddings and isolates of bidirectional text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const steering = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** True when `steeringCharacters` finds one. */
export function holdsSteering(text: string): boolean {
  return text.search(steering) !== -1;
}

/** All characters of a text that a reader would not see but that change what is seen: in the order of the text. */
export function steeringCharacters(text: string): readonly SteeringCharacter[] {
  const found: SteeringCharacter[] = [];
  let line = 1;
  let lineEnd = text.indexOf('\n');
  for (const { 0: character, index } of text.matchAll(steering)) {
    for (; lineEnd !== -1 && lineEnd < index; lineEnd = text.indexOf('\n', lineEnd + 1)) line += 1;
    found.push({ character, line });
  }
  return found;
}

/** `U+001B`. */
export function codePointName(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}
