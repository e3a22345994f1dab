/** Virtual time: sleeps end in the order of their times; the clock moves only when nothing else can run. */
export class VirtualClock {
  now = 0;
  private readonly queue: { readonly at: number; readonly n: number; readonly go: (slept: boolean) => void }[] = [];
  private n = 0;

  /** False: cut short by the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const entry = { at: this.now + ms, n: this.n++, go: resolve };
      this.queue.push(entry);
      signal?.addEventListener('abort', () => {
        const at = this.queue.indexOf(entry);
        if (at >= 0) this.queue.splice(at, 1);
        resolve(false);
      });
    });
  }

  async drive<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const end = work.finally(() => {
      done = true;
    });
    end.catch(() => {});
    while (!done) {
      await new Promise((resolve) => setImmediate(resolve));
      if (done || this.queue.length === 0) continue;
      this.queue.sort((a, b) => a.at - b.at || a.n - b.n);
      const next = this.queue.shift();
      if (!next) continue;
      this.now = next.at;
      next.go(true);
    }
    return end;
  }
}
