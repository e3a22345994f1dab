import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';

/** One line of a hunk. `text` is without its line end. */
export type DiffLine = {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
  /** Empty for a last line without a line end. */
  readonly lineEnd: '\n' | '\r\n' | '';
  /** Line numbers from 1; null on the side where the line does not stand. */
  readonly beforeLine: number | null;
  readonly afterLine: number | null;
};

/**
 * A run of changes with the lines around it. Counts are lines; a start is the number (from 1) of the first of them, or
 * of the line before which they would stand when there is none.
 */
export type Hunk = {
  readonly beforeStart: number;
  readonly beforeCount: number;
  readonly afterStart: number;
  readonly afterCount: number;
  readonly lines: readonly DiffLine[];
};

const CONTEXT_LINES = 3;

/**
 * The difference of two texts in the unified format, as `patch` and `git apply` take it; empty for equal texts. Lines
 * keep their line ends, so a patch of a CRLF file holds carriage returns (`patch --binary`).
 */
export function unifiedDiff(
  before: string,
  after: string,
  names: { readonly before: string; readonly after: string },
): string {
  if (before === after) return '';
  const patch = formatPatch(patchOf(before, after, names.before, names.after, CONTEXT_LINES), FILE_HEADERS_ONLY);
  const [removedFrom = '', addedTo = '', ...rest] = patch.split('\n');
  return [endedName(removedFrom), endedName(addedTo), ...rest].join('\n');
}

/** `patch` reads a file name up to the first blank unless a tab ends it; a quoted name ends by itself. */
function endedName(header: string): string {
  return header.slice(4).includes(' ') && !header.endsWith('"') ? `${header}\t` : header;
}

/** Lines that came and lines that went; a changed line counts on both sides. */
export function diffStats(before: string, after: string): { readonly added: number; readonly removed: number } {
  let added = 0;
  let removed = 0;
  for (const { lines } of patchOf(before, after, '', '', 0).hunks) {
    for (const line of lines) {
      if (line.startsWith('+')) added += 1;
      else if (line.startsWith('-')) removed += 1;
    }
  }
  return { added, removed };
}

/** The difference for screens: the hunks of the unified format, line by line. */
export function hunks(before: string, after: string, contextLines: number = CONTEXT_LINES): readonly Hunk[] {
  return patchOf(before, after, '', '', contextLines).hunks.map((hunk) => ({
    beforeStart: hunk.oldStart,
    beforeCount: hunk.oldLines,
    afterStart: hunk.newStart,
    afterCount: hunk.newLines,
    lines: diffLines(hunk.lines, hunk.oldStart, hunk.newStart),
  }));
}

function patchOf(before: string, after: string, beforeName: string, afterName: string, context: number) {
  return structuredPatch(beforeName, afterName, before, after, undefined, undefined, { context });
}

const NO_LINE_END = '\\ No newline at end of file';

function diffLines(raw: readonly string[], beforeStart: number, afterStart: number): DiffLine[] {
  let beforeLine = beforeStart;
  let afterLine = afterStart;
  const lines: DiffLine[] = [];
  raw.forEach((line, at) => {
    if (line === NO_LINE_END) return;
    const mark = line[0];
    const crlf = line.endsWith('\r');
    const text = line.slice(1, crlf ? -1 : undefined);
    const lineEnd = raw[at + 1] === NO_LINE_END ? '' : crlf ? '\r\n' : '\n';
    const kind = mark === '+' ? 'added' : mark === '-' ? 'removed' : 'same';
    lines.push({
      kind,
      text,
      lineEnd,
      beforeLine: kind === 'added' ? null : beforeLine++,
      afterLine: kind === 'removed' ? null : afterLine++,
    });
  });
  return lines;
}
