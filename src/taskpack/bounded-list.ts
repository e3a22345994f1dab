/** Most entries of a list of faults that are shown; the rest is counted. */
export const MOST_LISTED = 20;

/** The first of `entries`, and a last one that says how many more there are. */
export function boundedList(entries: readonly string[]): readonly string[] {
  const more = entries.length - MOST_LISTED;
  return more <= 0 ? entries : [...entries.slice(0, MOST_LISTED), `and ${more} more`];
}
