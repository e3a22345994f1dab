import { countText } from '../events/words.ts';
import { printableName, shellWord } from '../ports/printable.ts';
import { importPack } from '../taskpack/imports/import-pack.ts';
import { type ImportReport, REPORT_FILE, shownLosses } from '../taskpack/imports/import-report.ts';
import type { ImportFormat, LossKind } from '../taskpack/imports/imported.ts';
import type { CommandContext } from './context.ts';
import { shownDir } from './read-state.ts';

export type ImportCommandOptions = {
  readonly to?: string;
  readonly format: ImportFormat | 'auto';
  readonly glob?: string;
  readonly strict?: boolean;
};

/** Makes a pack of tasks in another format, and tells what could not be carried over. */
export async function importTasks(
  source: string,
  options: ImportCommandOptions,
  context: CommandContext,
): Promise<void> {
  const report = await importPack(source, {
    to: options.to ?? null,
    format: options.format === 'auto' ? null : options.format,
    glob: options.glob ?? null,
    strict: options.strict === true,
  });
  const pack = shownDir(report.pack);
  const next = `skillopt eval --skill SKILL.md --pack ${shellWord(pack)}`;
  context.io.result({ ...report, next }, [
    `imported    ${report.format}: ${countText(report.tasks.length, 'task')} of ${entriesText(report.entries)} → ${printableName(pack)}`,
    ...lossLines('left', report),
    ...lossLines('changed', report),
    ...unusedLine(report),
    ...(report.losses.length === 0
      ? ['left        nothing']
      : [
          `list        ${printableName(`${pack}/${REPORT_FILE}`)} has all that was not carried over, and where each task is from`,
        ]),
    ...(report.splits === null
      ? []
      : [
          `splits      ${printableName(`${pack}/${report.splits}`)}: put it into skillopt.config.json to keep the splits of the source`,
        ]),
    `next        ${next}`,
  ]);
}

const entriesText = (n: number) => `${n} ${n === 1 ? 'entry' : 'entries'}`;

/** The first losses of a kind, under one label, and how many more there are. */
function lossLines(kind: LossKind, { losses }: ImportReport): string[] {
  const texts = shownLosses(losses.filter((loss) => loss.kind === kind));
  return texts.map((text, index) => `${(index === 0 ? kind : '').padEnd(12)}${text}`);
}

/** What has no use in a pack, in one line. */
function unusedLine({ losses }: ImportReport): string[] {
  const unused = losses.filter((loss) => loss.kind === 'unused').map(({ what }) => what);
  return unused.length === 0 ? [] : [`unused      ${printableName(unused.join(', '))}`];
}
