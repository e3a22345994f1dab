/** Shorter lines stand in many texts. */
const SHORTEST_LINE = 16;

/**
 * The lines of a skill's body by which its reading is known: those that stand in none of the texts that the model is
 * shown anyway. Long ones where there are any. Empty = nothing in it can be told from other texts.
 */
export function tellingLines(body: string, shownAnyway: readonly string[]): readonly string[] {
  const lines = new Set(
    body
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => /[\p{L}\p{N}]/u.test(line)),
  );
  const own = [...lines].filter((line) => !shownAnyway.some((text) => text.includes(line)));
  const long = own.filter((line) => line.length >= SHORTEST_LINE);
  return long.length > 0 ? long : own;
}

/** Does the output of a tool show what the skill says? */
export function shows(output: string, lines: readonly string[]): boolean {
  return lines.some((line) => output.includes(line));
}
