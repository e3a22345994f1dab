import type { Applied, Edit, EditRejection } from '../ports/edit.ts';
import { bringsMark, GUIDANCE_CHARACTERS, guidanceBlock, holdsMark, regionOf } from './guidance.ts';
import { hasBadCharacters, toLf } from './lines.ts';
import { headings } from './markdown.ts';
import { nearestLines, quotedLine } from './nearest.ts';
import { codePointName, holdsSteering, steeringCharacters } from './steering.ts';
import {
  changesNothing,
  type Edited,
  edited,
  endOfLine,
  lineAt,
  lineText,
  lineTextAt,
  occurrences,
  type Splice,
  startOfLine,
  type View,
  viewOf,
} from './view.ts';

type Rejected = Extract<Applied, { readonly ok: false }>;
type Planned = { readonly ok: true; readonly splice: Splice } | Rejected;
/** A target found once in the body; `target` has LF line ends. */
type Place = { readonly start: number; readonly end: number };

const MOST_LINE_NUMBERS = 100;
const MOST_HEADINGS_SHOWN = 20;

/**
 * Applies one edit to the body of a SKILL.md. Never throws; what is outside the edited span keeps its bytes, the
 * frontmatter above all. The result is not validated as a document: that is `validateEdited`.
 */
export function applyEdit(text: string, edit: Edit): Applied {
  const view = viewOf(text);
  if (view === null) return rejected('invalid-document', 'the text has no frontmatter closed by a line "---"');
  const result = editView(view, edit);
  return result.ok ? { ok: true, text: result.text } : result;
}

/** What an edit leads to, and the change that it is. */
export type EditedView = ({ readonly ok: true; readonly splice: Splice } & Edited) | Rejected;

/** `applyEdit` for a text that was looked at before. */
export function editView(view: View, edit: Edit): EditedView {
  const badText = badTextOf('content', edit.content) ?? badTextOf('target', edit.target);
  if (badText !== null) return rejected('bad-text', badText);
  const planned = plan(view, edit.op, toLf(edit.target), toLf(edit.content));
  if (!planned.ok) return planned;
  const { splice } = planned;
  const held = edit.op === 'guidance' ? null : heldBack(view, splice);
  if (held !== null) return held;
  if (changesNothing(view, splice)) {
    return rejected('no-change', 'the text would stay the same, or differ in trailing blanks only');
  }
  return { ok: true, ...edited(view, splice), splice };
}

/** What stands in the guidance is no matter of an ordinary edit, nor are its marker lines. */
function heldBack(view: View, splice: Splice): Rejected | null {
  if (bringsMark(view.plain, splice)) return rejected('protected', 'the content names the markers of the guidance');
  const region = regionOf(view);
  if (region === null || region === 'broken') return null;
  const before = view.plain.slice(0, splice.start) + splice.insert;
  const joins = splice.end === region.start && before !== '' && !before.endsWith('\n');
  if (splice.end <= region.start && splice.start <= region.start && !joins) return null;
  const lines = `lines ${lineAt(view, region.start) + 1} to ${lineAt(view, region.end - 1) + 1}`;
  return rejected('protected', `the guidance in ${lines} is not edited here: change the text above it`);
}

/** Why a part of an edit may not come into a skill as it is; null = it may. */
export function badTextOf(part: 'content' | 'target', text: string): string | null {
  if (hasBadCharacters(text)) return `the ${part} holds a NUL or half a surrogate pair`;
  if (!holdsSteering(text)) return null;
  const first = steeringCharacters(text)[0]!;
  const place = `the character ${codePointName(first.character)} in its line ${first.line}`;
  return `the ${part} holds ${place}, which steers a terminal or turns the text around: use plain text`;
}

function rejected(reason: EditRejection, detail: string): Rejected {
  return { ok: false, reason, detail };
}

function plan(view: View, op: Edit['op'], target: string, content: string): Planned {
  switch (op) {
    case 'replace':
      return at(view, target, (place) => replacing(view, place, content));
    case 'delete':
      return at(view, target, (place) => deleting(view, place));
    case 'insert_after':
      if (content.trim() === '') return nothingToInsert();
      return at(view, target, (place) =>
        insertingLines(view, startOfLine(view, lineAt(view, place.end - 1) + 1), content),
      );
    case 'insert_before':
      if (content.trim() === '') return nothingToInsert();
      return at(view, target, (place) => insertingLines(view, startOfLine(view, firstLineOf(view, place)), content));
    case 'append_section':
      if (content.trim() === '') return nothingToInsert();
      return appending(view, target, content);
    case 'guidance':
      return guiding(view, content);
    default:
      return unknownOp(op);
  }
}

/** Writes the whole guidance: in the place of the one before, else at the end of the body. */
function guiding(view: View, content: string): Planned {
  if (content.trim() === '') return nothingToInsert();
  if (content.trim().length > GUIDANCE_CHARACTERS) {
    const size = `the guidance would have ${content.trim().length} characters, more than ${GUIDANCE_CHARACTERS}`;
    return rejected('too-large', `${size}: say less`);
  }
  if (holdsMark(content)) return rejected('protected', 'the content names the markers of the guidance');
  const region = regionOf(view);
  if (region === 'broken') {
    return rejected('protected', 'the body holds a marker of the guidance, but not both, each once, at its end');
  }
  const block = guidanceBlock(content);
  if (region === null) return appendingAt(view, view.lineCount, block);
  return { ok: true, splice: { start: region.start, end: region.end, insert: block } };
}

/** The line before which the body may grow: that of the guidance, else one past the last. */
function lastLine(view: View): number {
  const region = regionOf(view);
  return region === null || region === 'broken' ? view.lineCount : lineAt(view, region.start);
}

function unknownOp(op: never): Rejected {
  return rejected('bad-text', `there is no edit operation ${JSON.stringify(op)}`);
}

function nothingToInsert(): Rejected {
  return rejected('no-change', 'the content is empty: there is nothing to insert');
}

/** The splice at the one place of a target, or why there is no such place. */
function at(view: View, target: string, splice: (place: Place) => Splice): Planned {
  if (target === '') return rejected('target-missing', 'the target is empty: quote a text of the body');
  const found = occurrences(view, target, view.bodyStart);
  const start = found[0];
  if (start === undefined) return notFound(view, target);
  if (found.length > 1) {
    const lines = found.map((offset) => lineAt(view, offset));
    return rejected(
      'target-ambiguous',
      `the target occurs ${found.length} times in the body, in ${numbered(lines)}: quote more of the text around the one that is meant`,
    );
  }
  return { ok: true, splice: splice({ start, end: start + target.length }) };
}

function notFound(view: View, target: string): Rejected {
  const elsewhere = occurrences(view, target, 0)[0];
  if (elsewhere !== undefined) {
    return rejected(
      'target-in-frontmatter',
      `the target stands in the frontmatter (line ${lineAt(view, elsewhere) + 1}), which is locked: edit the body, from line ${view.bodyLine + 1} on`,
    );
  }
  return rejected('target-missing', `the target does not occur in the body; ${nearestLines(view, target)}`);
}

function numbered(lines: readonly number[]): string {
  const numbers = [...new Set(lines)].map((line) => line + 1);
  const shown = numbers.slice(0, MOST_LINE_NUMBERS).join(', ');
  const more = numbers.length > MOST_LINE_NUMBERS ? ` and ${numbers.length - MOST_LINE_NUMBERS} more` : '';
  return `${numbers.length === 1 ? 'line' : 'lines'} ${shown}${more}`;
}

/** A line end at the edge of the target that the content leaves out stays: whole lines are replaced by whole lines. */
function replacing(view: View, place: Place, content: string): Splice {
  let { start, end } = place;
  if (content !== '') {
    if (view.plain[start] === '\n' && !content.startsWith('\n')) start += 1;
    if (end > start && view.plain[end - 1] === '\n' && !content.endsWith('\n')) end -= 1;
  }
  return { start, end, insert: content };
}

/**
 * Removes the target. Lines of which nothing but blanks would be left go whole, with their line end; otherwise a line
 * end at the edge of the target stays, so that no two lines are joined by chance.
 */
function deleting(view: View, place: Place): Splice {
  let { start, end } = place;
  const firstLine = lineAt(view, start);
  const lastLine = lineAt(view, end - 1);
  const before = view.plain.slice(startOfLine(view, firstLine), start);
  const after = view.plain.slice(end, Math.max(endOfLine(view, lastLine), end));
  if (before.trim() === '' && after.trim() === '') {
    return { start: start - before.length, end: startOfLine(view, lastLine + 1), insert: '' };
  }
  if (view.plain[start] === '\n' && after.trim() !== '') start += 1;
  if (end > start && view.plain[end - 1] === '\n' && before.trim() !== '') end -= 1;
  return { start, end, insert: '' };
}

/** A line end that starts the target belongs to the line above the one that is meant. */
function firstLineOf(view: View, place: Place): number {
  const skip = view.plain[place.start] === '\n' && place.end - place.start > 1 ? 1 : 0;
  return lineAt(view, place.start + skip);
}

/** Puts content on lines of its own at a line start, or behind a last line that has no line end. */
function insertingLines(view: View, offset: number, content: string): Splice {
  const atLineStart = offset === 0 || view.plain[offset - 1] === '\n';
  const lines = content.endsWith('\n') ? content.slice(0, -1) : content;
  return { start: offset, end: offset, insert: atLineStart ? `${lines}\n` : `\n${lines}` };
}

/** The content as a block of its own: at the end of the body, or of the section that a heading line opens. */
function appending(view: View, target: string, content: string): Planned {
  if (target.trim() === '') return appendingAt(view, lastLine(view), content);
  const wanted = headingForm(target);
  const all = headings(view.blocks());
  const found = all.filter((h) => {
    const lines = Array.from({ length: h.lineCount }, (_, n) => lineText(view, view.bodyLine + h.line + n));
    return (
      headingForm(lines.join('\n')) === wanted ||
      (lines.length > 1 && headingForm(lines.slice(0, -1).join('\n')) === wanted)
    );
  });
  const heading = found[0];
  if (heading === undefined)
    return noSuchHeading(
      view,
      target,
      all.map((h) => view.bodyLine + h.line),
    );
  if (found.length > 1) {
    const lines = numbered(found.map((h) => view.bodyLine + h.line));
    return rejected(
      'target-ambiguous',
      `the heading occurs ${found.length} times, in ${lines}: use insert_after with a unique text`,
    );
  }
  const next = all.find((h) => h.line > heading.line && h.level <= heading.level);
  const end = lastLine(view);
  const below = next === undefined ? view.lineCount : view.bodyLine + next.line;
  return appendingAt(view, view.bodyLine + heading.line < end ? Math.min(below, end) : below, content);
}

function headingForm(lines: string): string {
  return lines
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();
}

function noSuchHeading(view: View, target: string, headingLines: readonly number[]): Rejected {
  const found = occurrences(view, target, 0);
  const inBody = found.filter((offset) => offset >= view.bodyStart);
  if (inBody.length === 0 && found.length > 0) return notFound(view, target);
  const place =
    inBody.length > 0 ? `it stands in ${numbered(inBody.map((o) => lineAt(view, o)))}, but not as a heading; ` : '';
  const shown = headingLines.slice(0, MOST_HEADINGS_SHOWN).map((line) => quotedLine(view, line));
  const more = headingLines.length > shown.length ? `\nand ${headingLines.length - shown.length} more` : '';
  const known = shown.length === 0 ? 'the body has no headings' : `the headings are:\n${shown.join('\n')}${more}`;
  return rejected('target-missing', `the target is not the line of a heading; ${place}${known}`);
}

/** Before a line (one past the last = at the end), with a blank line on either side. */
function appendingAt(view: View, line: number, content: string): Planned {
  const offset = startOfLine(view, line);
  const block = content.replace(/^\n+/, '').replace(/\n+$/, '');
  const above = view.plain.slice(0, offset);
  const ended = above.endsWith('\n');
  const lastLine = lineTextAt(view, Math.max(offset - 1, 0));
  const blankAbove = lastLine.trim() === '' ? '' : '\n';
  const lead = ended ? blankAbove : `\n${blankAbove}`;
  const atEnd = offset === view.plain.length;
  const tail = atEnd ? (ended ? '\n' : '') : '\n\n';
  return { ok: true, splice: { start: offset, end: offset, insert: `${lead}${block}${tail}` } };
}
