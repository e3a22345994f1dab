import { printable } from '../ports/printable.ts';
import type { Io } from './io.ts';

/** One line that is written over while work goes on, below lines that stay. */
export type LiveLine = {
  /** A line that stays. */
  readonly line: (text: string) => void;
  /** How far it has come: written over by the next one. */
  readonly progress: (text: string) => void;
  /** Takes the live line away. */
  readonly end: () => void;
};

const CLEAR = '\r\u001b[2K';

/** `isLive`: a terminal that can move its cursor; elsewhere each piece of progress is a line of its own. */
export function liveLine(io: Io, isLive: boolean): LiveLine {
  if (!isLive) return { line: io.line, progress: io.line, end() {} };
  const { stdout } = process;
  let isShown = false;
  const end = () => {
    if (isShown) stdout.write(CLEAR);
    isShown = false;
  };
  return {
    line(text) {
      end();
      io.line(text);
    },
    progress(text) {
      const width = Math.max(1, stdout.columns - 1);
      stdout.write(CLEAR + Bun.sliceAnsi(printable(text), 0, width));
      isShown = true;
    },
    end,
  };
}
