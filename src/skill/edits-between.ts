import { diffArrays } from 'diff';
import type { Edit } from '../ports/edit.ts';
import { applyEdit } from './edits.ts';
import { sameText } from './same-text.ts';
import { bodyOf, viewOf } from './view.ts';

/** Lines `from` to `to` of a body, the last one not included, and what stands there afterwards. */
type Change = { readonly from: number; readonly to: number; readonly lines: readonly string[] };

/**
 * The edits that lead from the body of one SKILL.md to that of another, one for each place that differs; applied one
 * after the other they give it, up to trailing blanks and blank lines at its beginning. Each quotes as many lines around its place as make it the only
 * one. Empty for bodies that are the same; null when one of the texts has no frontmatter.
 */
export function editsBetween(
  before: string,
  after: string,
  said: Pick<Edit, 'cites' | 'reason'>,
): readonly Edit[] | null {
  const [from, to] = [viewOf(before), viewOf(after)];
  if (from === null || to === null) return null;
  const [was, is] = [bodyOf(from), bodyOf(to)];
  if (isSameBody(was, is)) return [];
  const lines = was.split('\n');
  const edit = (change: Change): Edit => ({
    op: 'replace',
    target: lines.slice(change.from, change.to).join('\n'),
    content: change.lines.join('\n'),
    ...said,
  });
  const edits = apart(changesOf(lines, is.split('\n')), lines, was).map(edit);
  return leadsTo(before, edits, is) ? edits : [{ op: 'replace', target: was, content: is, ...said }];
}

function changesOf(lines: readonly string[], wanted: readonly string[]): readonly Change[] {
  const changes: { from: number; to: number; lines: string[] }[] = [];
  let at = 0;
  let open: (typeof changes)[number] | null = null;
  for (const part of diffArrays([...lines], [...wanted])) {
    if (!part.added && !part.removed) {
      at += part.value.length;
      open = null;
      continue;
    }
    if (open === null) {
      open = { from: at, to: at, lines: [] };
      changes.push(open);
    }
    if (part.added) open.lines.push(...part.value);
    else {
      at += part.value.length;
      open.to = at;
    }
  }
  return changes;
}

/** Each change with the lines around it that make it unique; those that run into each other become one. */
function apart(changes: readonly Change[], lines: readonly string[], body: string): readonly Change[] {
  const found: Change[] = [];
  for (const change of changes) {
    let now = quoted(change, lines, body);
    for (let last = found.at(-1); last !== undefined && last.to >= now.from; last = found.at(-1)) {
      found.pop();
      now = quoted(joined(last, now, lines), lines, body);
    }
    found.push(now);
  }
  return found;
}

function joined(a: Change, b: Change, lines: readonly string[]): Change {
  // lines that both quote stand in both
  const shared = Math.max(0, a.to - b.from);
  const between = lines.slice(a.to, b.from);
  const kept = shared === 0 ? a.lines : a.lines.slice(0, a.lines.length - shared);
  return { from: a.from, to: b.to, lines: [...kept, ...between, ...b.lines] };
}

/** Takes in lines above and below, until the place is unique and begins and ends with a line that says something. */
function quoted(change: Change, lines: readonly string[], body: string): Change {
  let { from, to, lines: now } = change;
  const isBlank = (list: readonly string[]) => (list[0] ?? '').trim() === '' || (list.at(-1) ?? '').trim() === '';
  const isOpen = () => {
    const target = lines.slice(from, to);
    return isBlank(target) || isBlank(now) || body.split(target.join('\n')).length !== 2;
  };
  for (let up = true; isOpen() && (from > 0 || to < lines.length); up = !up) {
    if ((up && from > 0) || to === lines.length) now = [lines[--from] ?? '', ...now];
    else now = [...now, lines[to++] ?? ''];
  }
  return { from, to, lines: now };
}

function leadsTo(before: string, edits: readonly Edit[], body: string): boolean {
  let text = before;
  for (const edit of edits) {
    const applied = applyEdit(text, edit);
    if (!applied.ok) return false;
    text = applied.text;
  }
  const view = viewOf(text);
  return view !== null && isSameBody(bodyOf(view), body);
}

/** Blank lines that a body begins with. */
const opening = /^(?:[ \t]*\n)+/;

function isSameBody(a: string, b: string): boolean {
  return sameText(a.replace(opening, ''), b.replace(opening, ''));
}
