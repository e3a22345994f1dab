/**
 * An environment variable by which processes are known: every process that a rollout starts inherits it, also those
 * that leave their group or session. `exact` names one rollout, `prefix` all of a session.
 */
export type Mark =
  | { readonly name: string; readonly match: 'exact'; readonly value: string }
  | { readonly name: string; readonly match: 'prefix'; readonly value: string };

/** True when a block of `NAME=value` entries, each ended by a NUL byte, carries the mark. */
export function carriesMark(environment: Buffer, mark: Mark): boolean {
  const needle = Buffer.from(`${mark.name}=${mark.value}${mark.match === 'exact' ? '\0' : ''}`);
  let at = environment.indexOf(needle);
  while (at >= 0) {
    if (at === 0 || environment[at - 1] === 0) return true;
    at = environment.indexOf(needle, at + 1);
  }
  return false;
}

/** True when a line of `ps -E` (the command followed by its environment, parted by blanks) carries the mark. */
export function lineCarriesMark(line: string, mark: Mark): boolean {
  const needle = ` ${mark.name}=${mark.value}`;
  let at = line.indexOf(needle);
  while (at >= 0) {
    const after = line[at + needle.length];
    if (mark.match === 'prefix' || after === undefined || after === ' ') return true;
    at = line.indexOf(needle, at + 1);
  }
  return false;
}
