/**
 * Work that follows from events which come thick and fast: done at once when it was not done for `everyMs`
 * milliseconds, else as soon as they have passed, once for all that asked for it meanwhile. The timer keeps no process
 * alive: whoever ends calls `now`.
 */
export class Seldom {
  private doneAtMs = Number.NEGATIVE_INFINITY;
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** What the work has thrown when nobody was there to hear it. */
  private fault: { readonly error: unknown } | null = null;

  constructor(
    private readonly work: () => void,
    private readonly everyMs: number,
  ) {}

  /** Throws what the work throws, also what it threw since the last time. */
  ask(): void {
    this.hear();
    if (this.timer !== null) return;
    const leftMs = this.doneAtMs + this.everyMs - performance.now();
    if (leftMs <= 0) this.now();
    else this.timer = setTimeout(() => this.late(), leftMs).unref();
  }

  /** Does it on the spot; nothing is left to be done. Throws what the work throws. */
  now(): void {
    this.stop();
    this.hear();
    this.work();
    this.doneAtMs = performance.now();
  }

  /** What was asked for is not done any more. */
  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private late(): void {
    try {
      this.now();
    } catch (error) {
      this.fault = { error };
    }
  }

  private hear(): void {
    const { fault } = this;
    this.fault = null;
    if (fault !== null) throw fault.error;
  }
}
