/** What an edit format or a merge leaves behind when it was not taken apart cleanly. */
const MARKERS: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  { kind: 'a merge marker', pattern: /^(?:<{7}|>{7}|\|{7})(?: .*)?$/ },
  { kind: 'a patch envelope', pattern: /^\*\*\* (?:Begin|End) Patch\b|^\*\*\* (?:Update|Add|Delete) File:/ },
  { kind: 'a diff header', pattern: /^diff --git |^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|^(?:---|\+\+\+) [ab]\// },
  { kind: 'an edit tag', pattern: /^<\/?(?:edits?|proposal|patch)>|<\/?(?:edits?|proposal|patch)>$/ },
  { kind: 'a thinking tag', pattern: /^<\/?think(?:ing)?>|<\/?think(?:ing)?>$/ },
  { kind: 'a control token of a model', pattern: /<\|[a-z_]{3,}\|>/ },
];

/** Holds for every text with a marker in it: most texts have none and are done with one look. */
const ANY = /<{7}|>{7}|\|{7}|\*\*\* |diff --git |@@ -|[-+]{3} [ab]\/|<\/?(?:edits?|proposal|patch|think|thinking)>|<\|/;

/** False when `markerLines` finds nothing in the text. */
export function mayHoldMarker(lfText: string): boolean {
  return ANY.test(lfText);
}

/** A marker found in a text: `line` counts from 0. */
export type MarkerLine = { readonly kind: string; readonly line: number; readonly text: string };

/**
 * The first line of each kind of leftover marker. A row of `=` alone is a heading's underline: it counts only between
 * merge markers, and those are found anyway.
 */
export function markerLines(lfText: string): readonly MarkerLine[] {
  if (!mayHoldMarker(lfText)) return [];
  const found: MarkerLine[] = [];
  lfText.split('\n').forEach((raw, line) => {
    const text = raw.trim();
    for (const { kind, pattern } of MARKERS) {
      if (pattern.test(text) && !found.some((f) => f.kind === kind)) found.push({ kind, line, text });
    }
  });
  return found;
}
