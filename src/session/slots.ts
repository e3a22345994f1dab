/** Workers that one session has for itself, or that several share: whoever asks first gets the one that is free. */
export class Slots {
  private taken = 0;
  private waiting: (() => void)[] = [];

  constructor(readonly size: number) {}

  /** Takes a free one; false when there is none: `onFree` then hears when one may be free. */
  take(): boolean {
    if (this.taken >= this.size) return false;
    this.taken++;
    return true;
  }

  /** Gives one back. Those who wait hear of it in the order in which they began to wait. */
  give(): void {
    this.taken--;
    const waiting = this.waiting;
    this.waiting = [];
    for (const hear of waiting) hear();
  }

  /** Hears once, when one has been given back; asked again by the same listener it still hears once. */
  onFree(listener: () => void): void {
    if (!this.waiting.includes(listener)) this.waiting.push(listener);
  }
}
