/** So many trials at a time over all jobs of one call. */
export class Room {
  #free: number;
  readonly #waiting: { readonly need: number; readonly go: () => void }[] = [];

  constructor(private readonly size: number) {
    this.#free = size;
  }

  async take(wanted: number): Promise<void> {
    const need = Math.min(wanted, this.size);
    if (this.#waiting.length === 0 && this.#free >= need) {
      this.#free -= need;
      return;
    }
    await new Promise<void>((go) => this.#waiting.push({ need, go }));
  }

  give(wanted: number): void {
    this.#free += Math.min(wanted, this.size);
    for (let next = this.#waiting[0]; next !== undefined && this.#free >= next.need; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= next.need;
      next.go();
    }
  }
}
