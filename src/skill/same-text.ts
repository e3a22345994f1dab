import { toLf } from './lines.ts';

/** True when the two texts differ in nothing but line ends, blanks at the end of lines, and blanks at the end. */
export function sameText(a: string, b: string): boolean {
  return a === b || withoutTrailingBlanks(a) === withoutTrailingBlanks(b);
}

function withoutTrailingBlanks(text: string): string {
  return toLf(text)
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();
}
