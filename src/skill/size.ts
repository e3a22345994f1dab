/** The format's advice for the size of a body. */
export const DEFAULT_MAX_LINES = 500;
export const DEFAULT_MAX_TOKENS = 5000;

/** A rough token count, for caps and screens: a quarter of the characters, rounded up. */
export function estimateTokens(text: string): number {
  return tokensOf(text.length);
}

/** The same for a text of so many characters (UTF-16 units). */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / 4);
}
