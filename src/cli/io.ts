import type { Failure } from '../ports/failure.ts';
import { printable } from '../ports/printable.ts';

/** Where a command writes. With `--json` stdout holds one JSON value and nothing else; lines for people go to stderr. */
export type Io = {
  readonly json: boolean;
  readonly line: (text: string) => void;
  readonly result: (data: unknown, lines: readonly string[]) => void;
  readonly failure: (failure: Failure) => void;
};

export function makeIo(json: boolean): Io {
  const line = (text: string) => {
    (json ? process.stderr : process.stdout).write(`${printable(text)}\n`);
  };
  return {
    json,
    line,
    result(data, lines) {
      if (json) process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
      else for (const l of lines) line(l);
    },
    failure(f) {
      if (json) process.stdout.write(`${JSON.stringify({ error: f }, null, 2)}\n`);
      else process.stderr.write(`${printable(failureText(f))}\n`);
    },
  };
}

/** What failed, where, and the smallest next fix. */
export function failureText(f: Failure): string {
  const where = f.where.split('\n').join('\n       ');
  const fix = f.fix.split('\n').join('\n       ');
  return `failed ${f.what}\nwhere  ${where}\nfix    ${fix}`;
}
