/** Rows as lines of aligned columns, two blanks apart; a column that is empty in all rows is left out. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const width = Math.max(0, ...rows.map((r) => r.length));
  const widths = Array.from({ length: width }, (_, c) => Math.max(...rows.map((r) => Bun.stringWidth(r[c] ?? ''))));
  return rows.map((row) =>
    widths
      .flatMap((w, c) => (w === 0 ? [] : [`${row[c] ?? ''}${' '.repeat(w - Bun.stringWidth(row[c] ?? ''))}`]))
      .join('  ')
      .trimEnd(),
  );
}
