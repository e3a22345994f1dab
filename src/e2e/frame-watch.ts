import type { Terminal as Model } from '@xterm/headless';

// A frame that is taller or wider than the terminal scrolls it: the header is gone, and every later frame is drawn one
// line off. No text on the screen tells of it, so it is watched for in every test.

/** What the first row of each frame holds. */
const HEADER = 'skillopt';

/** After a change of size a frame of the size before may still be on its way; by then it has come. */
const GRACE_MS = 250;

/** By then the program must have drawn a frame that fits the new size. */
export const SETTLE_MS = 10_000;

/** Most faults that are told: one frame that does not fit brings dozens. */
const MOST_TOLD = 5;

/**
 * Watches a screen model: as long as the alternate screen is on, nothing may scroll, and when a frame has come (its
 * synchronized update ends) the first row must hold the header. A screen on which nothing stands is no frame.
 */
export class FrameWatch {
  readonly faults: string[] = [];
  /** When the size was changed for the last time, unless a frame that fits has come since. */
  private resizedAtMs: number | null = null;

  /** Set after the switch: the model calls the switch itself a scroll, too. */
  private alternate = false;

  constructor(
    private readonly model: Model,
    private readonly settleMs: number,
  ) {
    model.buffer.onBufferChange(({ type }) => {
      this.alternate = type === 'alternate';
    });
    model.onScroll(() => this.fault('the screen scrolled: a frame is taller or wider than the terminal'));
    for (const final of ['S', 'T']) {
      model.parser.registerCsiHandler({ final }, () => {
        this.fault('the screen was scrolled by an escape sequence');
        return false;
      });
    }
    model.parser.registerCsiHandler({ prefix: '?', final: 'l' }, (params) => {
      if (params.includes(2026)) this.frameEnded();
      return false;
    });
  }

  /** To be called right after the size of the model has changed. */
  resized(): void {
    this.resizedAtMs = performance.now();
  }

  /** Resolves when a frame that fits the size has come; a fault when none does. */
  async settled(over: () => boolean): Promise<void> {
    while (this.resizedAtMs !== null && this.onAlternate && !over()) {
      const passedMs = performance.now() - this.resizedAtMs;
      if (passedMs > this.settleMs) {
        this.resizedAtMs = null;
        this.fault('after the size was changed no frame came that fits it');
      } else {
        await new Promise((next) => setTimeout(next, 5));
        // an idle program has drawn its last frame before the grace was over
        if (passedMs > GRACE_MS && this.headerStands()) this.resizedAtMs = null;
      }
    }
  }

  private get onAlternate(): boolean {
    return this.alternate && this.model.buffer.active.type === 'alternate';
  }

  private frameEnded(): void {
    if (!this.onAlternate) return;
    const stands = this.headerStands();
    if (this.resizedAtMs !== null && stands && performance.now() - this.resizedAtMs > GRACE_MS) this.resizedAtMs = null;
    if (!stands && !this.isBlank()) this.fault(`the first row is not the header but ${JSON.stringify(this.row(0))}`);
  }

  private headerStands(): boolean {
    return this.row(0).includes(HEADER);
  }

  private isBlank(): boolean {
    return Array.from({ length: this.model.rows }, (_, y) => this.row(y)).every((row) => row === '');
  }

  private row(y: number): string {
    const { active } = this.model.buffer;
    return active.getLine(active.baseY + y)?.translateToString(true) ?? '';
  }

  private fault(what: string): void {
    if (!this.onAlternate || this.resizedAtMs !== null || this.faults.length >= MOST_TOLD) return;
    this.faults.push(`${this.model.cols}×${this.model.rows}: ${what}`);
  }
}
