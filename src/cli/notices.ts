/** Milliseconds for which a notice takes the place of what runs. */
const NOTICE_MS = 8_000;

/** What is told on the live screen for a while, and again on the normal one. */
export class Notices {
  private said: string[] = [];
  private last = '';
  private saidAtMs = 0;

  say(text: string): void {
    this.said.push(text);
    this.last = text;
    this.saidAtMs = performance.now();
  }

  /** What stands there now; as long as there is nothing else to see (`stays`) the last one does. */
  now(stays: boolean): string {
    return stays || performance.now() - this.saidAtMs < NOTICE_MS ? this.last : '';
  }

  /** All of them, once. */
  taken(): readonly string[] {
    return this.said.splice(0);
  }
}
