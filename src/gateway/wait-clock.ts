/** How often those who listen hear of a wait that is on, in milliseconds. */
const tellMs = 100;

/**
 * Adds up the time in which requests of a rollout wait and none is being answered. A timer runs only while that is so and
 * somebody listens.
 */
export class WaitClock {
  #waiting = 0;
  #answering = 0;
  #why = '';
  /** Since when time is added; null = it is not. */
  #since: number | null = null;
  #totalMs = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #listeners: ((ms: number, why: string) => void)[] = [];

  /** `nowMs`: a clock that only goes forward. */
  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** The wait that is on included. */
  get totalMs(): number {
    return this.#totalMs + (this.#since === null ? 0 : this.nowMs() - this.#since);
  }

  onWait(listener: (ms: number, why: string) => void): void {
    this.#change(() => {
      this.#listeners.push(listener);
    });
  }

  /** Counts the time until the promise settles as a wait. */
  async during<T>(why: string, promise: Promise<T>): Promise<T> {
    this.#change(() => {
      this.#waiting += 1;
      this.#why = why;
    });
    try {
      return await promise;
    } finally {
      this.#change(() => {
        this.#waiting -= 1;
      });
    }
  }

  /** A request is being answered, until the function that it gives back is called. */
  answering(): () => void {
    let isOn = true;
    this.#change(() => {
      this.#answering += 1;
    });
    return () => {
      if (!isOn) return;
      isOn = false;
      this.#change(() => {
        this.#answering -= 1;
      });
    };
  }

  #change(apply: () => void): void {
    this.#tell();
    apply();
    const counts = this.#waiting > 0 && this.#answering === 0;
    this.#since = counts ? (this.#since ?? this.nowMs()) : null;
    clearInterval(this.#timer);
    this.#timer = counts && this.#listeners.length > 0 ? setInterval(() => this.#tell(), tellMs) : undefined;
  }

  #tell(): void {
    if (this.#since === null) return;
    const now = this.nowMs();
    const ms = now - this.#since;
    if (ms <= 0) return;
    this.#totalMs += ms;
    this.#since = now;
    for (const listener of this.#listeners) listener(ms, this.#why);
  }
}
