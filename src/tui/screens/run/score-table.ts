import { fit, type Line, lineWidth, pad, padLeft, span, widthOf } from '../../text.ts';
import type { Facts } from './facts.ts';
import { type Row, rowAt, rowCount, type Told } from './score-rows.ts';

export { rowCount } from './score-rows.ts';

/** From this width on scores, evidence and marks have columns of their own. */
const WIDE = 96;

/** The score table in `height` lines: its head, then the rows around the selected one; the newest when none is. */
export function scoreTable(f: Facts, width: number, height: number): readonly Line[] {
  const rows = rowCount(f.state);
  const fits = Math.max(1, height - 1);
  const selected = Math.min(f.model.step ?? rows - 1, rows - 1);
  const below = selected < rows - 1 ? 1 : 0;
  const first = Math.max(0, Math.min(selected - fits + 1 + below, rows - fits));
  const shown = Array.from({ length: Math.min(fits, rows - first) }, (_, i) => rowAt(f.state, first + i));
  const left = columns(shown, width);
  const room = width - 4 - left.reduce((n, c) => n + c.width + 2, -2);
  const right = width >= WIDE ? rightColumns(shown, room) : null;
  const fixed = (of: (c: Column) => string) =>
    left.map((c) => (c.right ? padLeft(of(c), c.width) : pad(of(c), c.width))).join('  ');
  return [
    fit(
      [
        span(`  ${fixed((c) => c.title)}  ${right ? right.head : 'verdict'}`, 'quiet'),
        span(first > 0 ? `   ↑ ${first} more` : '', 'quiet'),
      ],
      width,
    ),
    ...shown.map((r, i): Line => {
      const mark = f.model.step !== null && first + i === selected ? '▸ ' : '  ';
      const told = right && r.told.kind === 'scores' ? right.line(r.told) : inline(r.told, room);
      return fit([span(mark, 'accent'), span(`${fixed((c) => c.of(r))}  `, r.tone), ...told], width);
    }),
  ];
}

type Column = {
  readonly title: string;
  readonly width: number;
  readonly right?: true;
  readonly of: (r: Row) => string;
};

/** Columns that fit, most telling first to stay; as wide as what is shown in them. */
function columns(rows: readonly Row[], width: number): readonly Column[] {
  const widest = (of: (r: Row) => string, least: number) => Math.max(least, ...rows.map((r) => widthOf(of(r))));
  const edits = (r: Row) => r.edits[width >= WIDE ? 0 : 1];
  const title = width >= WIDE ? 'edits tried → kept' : 'edits';
  const all: readonly (Column & { readonly from: number })[] = [
    { title: 'step', width: 4, right: true, from: 0, of: (r) => r.step },
    { title: 'rounds', width: 6, right: true, from: 104, of: (r) => r.rounds },
    { title, width: widest(edits, widthOf(title)), from: 60, of: edits },
    { title: 'gate', width: widest((r) => r.gate, 17), from: 44, of: (r) => r.gate },
  ];
  return all.filter((c) => width >= c.from);
}

type Scores = Extract<Told, { kind: 'scores' }>;

/** Verdict, scores, evidence and mark in columns, the scores in the longest form that all rows have room for; null = none. */
function rightColumns(
  rows: readonly Row[],
  room: number,
): { readonly head: string; readonly line: (told: Scores) => Line } | null {
  const told = rows.flatMap((r) => (r.told.kind === 'scores' ? [r.told] : []));
  const marks = Math.max(0, ...told.map((t) => widthOf(t.mark)));
  const forms = Math.max(1, ...told.map((t) => t.scores.length));
  const form = (t: Scores, at: number) => t.scores[Math.min(at, t.scores.length - 1)] ?? '';
  for (let at = 0; at < forms; at++) {
    const scores = Math.max('selection'.length, ...told.map((t) => widthOf(form(t, at))));
    if (11 + 2 + scores + 2 + 8 + 2 + marks > room) continue;
    return {
      head: `${pad('verdict', 11)}  ${pad('selection', scores)}  evidence`,
      line: (t) => [
        span(pad(t.verdict[0], 11), t.verdict[2]),
        span(`  ${pad(form(t, at), scores)}  ${pad(t.evidence, 8)}`),
        span(`  ${t.mark}`, 'accent'),
      ],
    };
  }
  return null;
}

/** The longest form for which there is room. */
function inline(told: Told, room: number): Line {
  const all: readonly Line[] =
    told.kind === 'says' ? told.forms.map((text) => [span(text, told.tone)]) : scoreForms(told);
  return all.find((l) => lineWidth(l) <= room) ?? all.at(-1) ?? [];
}

/** Scores get shorter first, then the verdict; what is best, or was not confirmed, is said in any case. */
function scoreForms(told: Scores): readonly Line[] {
  const [verdict, sign, tone] = told.verdict;
  const mark = (text: string) => span(text === '' ? '' : ` ${text}`, 'accent');
  const last = told.scores.at(-1) ?? '';
  return [
    ...told.scores.map((s): Line => [span(verdict, tone), span(` ${s}`), mark(told.mark)]),
    [span(sign, tone), span(sign === '' ? last : ` ${last}`), mark(told.mark)],
    [span(sign, tone), span(sign === '' ? last : ` ${last}`), mark(told.mark.replace(/^★.*/, '★'))],
    [span(sign, tone), mark(told.mark)],
  ];
}
