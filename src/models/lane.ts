import type { EndpointLane, LanePlace } from '../ports/gateway.ts';

type Waiter = { readonly enter: () => void };

/** As many as a pool has at most unless it is told otherwise: so many at once are nothing unusual for any endpoint. */
const firstLimit = 8;

/**
 * How many calls may run at one endpoint at once. It starts with a few, grows by one with each success while all places were
 * taken, and is halved when the endpoint refuses, once per episode: until a call that started after the cut succeeds.
 * All models of one endpoint share one lane.
 */
export class Lane implements EndpointLane {
  #limit: number;
  #running = 0;
  #starts = 0;
  /** The number of starts at the last cut; null = no episode is on. */
  #cutAt: number | null = null;
  #closed: ReturnType<typeof setTimeout> | null = null;
  #closedUntilMs = 0;
  readonly #waiting = new Set<Waiter>();

  constructor(private readonly most = 16) {
    this.#limit = Math.min(firstLimit, most);
  }

  /** How many may run at once now. */
  get limit(): number {
    return this.#limit;
  }

  enter(signal: AbortSignal): Promise<LanePlace> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        this.#waiting.delete(waiter);
        if (this.#waiting.size === 0) this.#open();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        enter: () => {
          signal.removeEventListener('abort', onAbort);
          resolve(this.#take());
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
      this.#admit();
    });
  }

  #take(): LanePlace {
    this.#running += 1;
    this.#starts += 1;
    const number = this.#starts;
    let wasFull = this.#running >= this.#limit;
    let here = true;
    return {
      succeeded: () => {
        wasFull ||= this.#running >= this.#limit;
        if (this.#cutAt !== null && number > this.#cutAt) this.#cutAt = null;
        else if (this.#cutAt !== null) return;
        if (wasFull) this.#limit = Math.min(this.most, this.#limit + 1);
      },
      refused: (ms) => {
        this.#close(ms);
        if (this.#cutAt !== null) return;
        this.#cutAt = this.#starts;
        this.#limit = Math.max(1, Math.floor(this.#limit / 2));
      },
      leave: () => {
        if (!here) return;
        here = false;
        this.#running -= 1;
        this.#admit();
      },
    };
  }

  #admit(): void {
    if (performance.now() < this.#closedUntilMs) {
      if (this.#waiting.size > 0) this.#openLater();
      return;
    }
    for (const waiter of this.#waiting) {
      if (this.#running >= this.#limit) return;
      this.#waiting.delete(waiter);
      waiter.enter();
    }
  }

  #close(ms: number): void {
    this.#closedUntilMs = Math.max(this.#closedUntilMs, performance.now() + ms);
    if (this.#waiting.size > 0) this.#openLater();
  }

  /** A timer runs only while somebody waits for it. */
  #openLater(): void {
    this.#open();
    const ms = Math.max(1, Math.ceil(this.#closedUntilMs - performance.now()));
    this.#closed = setTimeout(() => this.#admit(), ms);
  }

  #open(): void {
    if (this.#closed !== null) clearTimeout(this.#closed);
    this.#closed = null;
  }
}
