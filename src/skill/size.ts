/** The format's advice for the size of a body. */
export const DEFAULT_MAX_LINES = 500;
export const DEFAULT_MAX_TOKENS = 5000;

/** A rough token count, for caps and screens: a quarter of the characters, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
