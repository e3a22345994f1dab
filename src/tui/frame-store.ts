import { empty, type Line, sameLine } from './text.ts';

/** The frame that is shown, row by row: a row that says the same as before stays the same object. */
export class FrameStore {
  private lines: readonly Line[] = [];
  private readonly listeners = new Set<() => void>();

  set(lines: readonly Line[]): void {
    const before = this.lines;
    this.lines = lines.map((l, row) => {
      const old = before[row];
      return old !== undefined && sameLine(old, l) ? old : l;
    });
    for (const listener of [...this.listeners]) listener();
  }

  line(row: number): Line {
    return this.lines[row] ?? empty;
  }

  get height(): number {
    return this.lines.length;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}
