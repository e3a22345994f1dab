import { fill, type Line, line } from '../text.ts';

/** What is said before anything is known of the session. In ASCII: to measure other letters takes longer than all else in a first frame. */
export const OPENING = ' skillopt  opening the session ...';

export function openingFrame(size: { readonly columns: number; readonly rows: number }): readonly Line[] {
  const lines: readonly Line[] = Array.from({ length: Math.max(1, size.rows - 1) }, (_, row) =>
    row === 0 ? line(OPENING, 'accent') : [],
  );
  return lines.map((l) => fill(l, Math.max(1, size.columns)));
}
