/**
 * A folder of a rollout's own. On Linux, what works in it is known by that, though it threw its environment away:
 * unless it was started before the rollout, or sits at a terminal, as a user who looks into the folder does (nothing
 * that a rollout starts has one).
 */
export type MarkedPlace = {
  /** Real path, absolute. */
  readonly folder: string;
  /** When the rollout began, in milliseconds since 1970; null = unknown. */
  readonly sinceMs: number | null;
};

type Known = { readonly name: string; readonly value: string; readonly places?: readonly MarkedPlace[] };

/**
 * By what processes are known: an environment variable that every process of a rollout inherits, also those that
 * leave their group or session, and the rollout's own folders. `exact` names one rollout, `prefix` all of a session.
 */
export type Mark = (Known & { readonly match: 'exact' }) | (Known & { readonly match: 'prefix' });

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

/** Is a process that works in `folder` in the place? A folder that is gone is named with ` (deleted)` by the kernel. */
export function liesIn(folder: string, place: MarkedPlace): boolean {
  return folder === place.folder || folder === `${place.folder} (deleted)` || folder.startsWith(`${place.folder}/`);
}
