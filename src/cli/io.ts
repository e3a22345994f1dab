import { type Failure, SkilloptError } from '../ports/failure.ts';
import { printable } from '../ports/printable.ts';

/** Where a command writes. With `--json` stdout holds one JSON value and nothing else; lines for people go to stderr. */
export type Io = {
  readonly json: boolean;
  readonly line: (text: string) => void;
  readonly result: (data: unknown, lines: readonly string[]) => void;
  /** `report` = what stands of the work that failed, where there is some. */
  readonly failure: (failure: Failure, report?: unknown) => void;
};

/** A failure of work that left something behind: the report of it goes with the failure. */
export class ReportedFailure extends SkilloptError {
  constructor(
    failure: Failure,
    readonly report: unknown,
    cause: unknown,
  ) {
    super(failure, { cause });
  }
}

export function makeIo(json: boolean): Io {
  const stream = json ? process.stderr : process.stdout;
  const line = (text: string) => {
    const shown = printable(text);
    stream.write(`${stream.isTTY ? wrapped(shown, stream.columns) : shown}\n`);
  };
  return {
    json,
    line,
    result(data, lines) {
      if (json) process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
      else for (const l of lines) line(l);
    },
    failure(f, report) {
      if (json) process.stdout.write(`${JSON.stringify({ error: f, report }, null, 2)}\n`);
      else
        for (const l of printable(failureText(f)).split('\n'))
          process.stderr.write(`${process.stderr.isTTY ? wrapped(l, process.stderr.columns, FAILURE_LABEL) : l}\n`);
    },
  };
}

/** What failed, where, and the smallest next fix. A stop that was asked for is no failure. */
export function failureText(f: Failure): string {
  const where = f.where.split('\n').join('\n       ');
  const fix = f.fix.split('\n').join('\n       ');
  return `${f.code === 'interrupted' ? 'ended ' : 'failed'} ${f.what}\nwhere  ${where}\nfix    ${fix}`;
}

/** Columns of the word that every line begins with; of a failure's. */
const LABEL = 12;
const FAILURE_LABEL = 7;

/** A line that is longer than the terminal is wide goes on below its text, not below its label. */
export function wrapped(text: string, columns: number, label = LABEL): string {
  if (columns < 3 * label || text.includes('\n') || Bun.stringWidth(text) <= columns) return text;
  const rest = Bun.wrapAnsi(text.slice(label), columns - label, { hard: true, trim: true });
  return text.slice(0, label) + rest.split('\n').join(`\n${' '.repeat(label)}`);
}
