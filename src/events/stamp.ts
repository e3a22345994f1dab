/** Characters of a stamp up to its seconds: `2026-01-31T23:59:`. */
const TO_MINUTE = 17;
const WHOLE = '2026-01-31T23:59:59.999Z'.length;

/**
 * Reads the stamps of one log. Lines of one minute follow each other, so most are read without looking at the date:
 * `Date.parse` alone would be a tenth of what it costs to read a log.
 */
export class Stamps {
  private minute = '';
  private minuteMs = Number.NaN;

  /** Milliseconds since 1970 of an ISO 8601 stamp; NaN for another text. */
  ms(at: string): number {
    if (at.length !== WHOLE || !at.endsWith('Z')) return Date.parse(at);
    if (this.minute === '' || !at.startsWith(this.minute)) {
      this.minute = at.slice(0, TO_MINUTE);
      this.minuteMs = Date.parse(`${this.minute}00.000Z`);
    }
    return this.minuteMs + Math.round(1000 * Number(at.slice(TO_MINUTE, -1)));
  }
}

/** Time from line to line of a log; not while it stands still, and never backwards. */
export class RunningTime {
  private readonly stamps = new Stamps();
  private ms = 0;
  private lastAtMs: number | null = null;

  /** `runs` false: what passed since the line before does not count. */
  at(stamp: string, runs: boolean): void {
    const atMs = this.stamps.ms(stamp);
    if (this.lastAtMs !== null && runs) this.ms += Math.max(0, atMs - this.lastAtMs);
    this.lastAtMs = atMs;
  }

  get minutes(): number {
    return this.ms / 60_000;
  }
}
