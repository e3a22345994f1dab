import { printableName } from '../../ports/printable.ts';
import { boundedList } from '../bounded-list.ts';
import type { ImportFormat, Loss, LossKind } from './imported.ts';
import type { Made } from './write-prompts.ts';

/** What an import made of its source. */
export type ImportReport = {
  readonly format: ImportFormat;
  /** As the user named it. */
  readonly source: string;
  /** Absolute path of the pack. */
  readonly pack: string;
  readonly tasks: readonly Made[];
  /** Entries of the source that were meant as tasks. */
  readonly entries: number;
  readonly losses: readonly Loss[];
  /** Name of the file in the pack with the splits of the source, as a config has them; null = it has none. */
  readonly splits: string | null;
};

/** Most lines on the screen about losses of one reason. */
const MOST_ALIKE = 3;

/**
 * Losses as lines for the screen: of those with one reason the first, with the number of the others, and without what
 * follows from another one. All of them stand in the report.
 */
export function shownLosses(losses: readonly Loss[]): readonly string[] {
  const groups = Map.groupBy(
    losses.filter(({ follows }) => follows !== true),
    ({ why }) => why,
  );
  const lines = [...groups].flatMap(([why, alike]) => {
    const shown = alike.length > MOST_ALIKE ? alike.slice(0, MOST_ALIKE - 1) : alike;
    const more = alike.length - shown.length;
    const texts = shown.map(({ where, what }) => `${where} ${what}: ${why}`);
    return more === 0 ? texts : [...texts, `and ${more} more: ${why}`];
  });
  return boundedList(lines.map(printableName));
}

/** Name of the report in the pack. */
export const REPORT_FILE = 'IMPORT.md';

const titles: Readonly<Record<LossKind, string>> = {
  left: 'Left behind',
  changed: 'Carried over with a difference',
  unused: 'Of no use in a pack',
};

/** The report as a text: what was made from what, and everything that was not carried over. */
export function reportText(report: Omit<ImportReport, 'pack'>): string {
  const lines = [
    `# Imported from ${report.format}`,
    '',
    `Source: ${code(report.source)}. Tasks: ${report.tasks.length} of ${report.entries} entries.`,
  ];
  for (const kind of ['left', 'changed', 'unused'] as const) {
    const of = report.losses.filter((loss) => loss.kind === kind);
    lines.push('', `## ${titles[kind]}: ${of.length === 0 ? 'nothing' : of.length}`, '');
    for (const { where, what, why } of of) lines.push(`- ${code(where)} ${plain(what)}: ${plain(why)}`);
    if (of.length === 0) lines.pop();
  }
  if (report.splits !== null)
    lines.push('', '## Splits', '', `The splits of the source stand in ${code(report.splits)}, as a config has them.`);
  lines.push('', '## Tasks', '', '| task | from |', '| --- | --- |');
  for (const { id, from } of report.tasks) lines.push(`| ${code(id)} | ${code(from)} |`);
  return `${lines.join('\n')}\n`;
}

function code(text: string): string {
  return `\`${printableName(text).replaceAll('`', '’').replaceAll('|', '¦')}\``;
}

function plain(text: string): string {
  return printableName(text).replace(/[<>&]/g, (sign) => `\\${sign}`);
}
