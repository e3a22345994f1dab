/** Keeps new work from starting for a while: what runs comes to its end, and the session stays open. */
export class Hold {
  private held = false;
  private heldSinceMs = 0;
  private heldMs = 0;
  private readonly onRelease = new Set<() => void>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Milliseconds of a clock that stands still while it is held. */
  get runningMs(): number {
    return (this.held ? this.heldSinceMs : this.nowMs()) - this.heldMs;
  }

  get isHeld(): boolean {
    return this.held;
  }

  hold(): void {
    if (this.held) return;
    this.heldSinceMs = this.nowMs();
    this.held = true;
  }

  release(): void {
    if (!this.held) return;
    this.held = false;
    this.heldMs += this.nowMs() - this.heldSinceMs;
    for (const go of [...this.onRelease]) go();
  }

  /** Hears every release; returns the function that ends it. */
  subscribe(go: () => void): () => void {
    this.onRelease.add(go);
    return () => this.onRelease.delete(go);
  }

  /** Resolves as soon as nothing is held any more, or when the signal comes. */
  async open(signal: AbortSignal): Promise<void> {
    while (this.held && !signal.aborted)
      await new Promise<void>((resolve) => {
        const end = this.subscribe(done);
        signal.addEventListener('abort', done, { once: true });
        function done(): void {
          end();
          signal.removeEventListener('abort', done);
          resolve();
        }
      });
  }
}
