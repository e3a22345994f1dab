/** A map that forgets the entry unused for longest once it holds more than `capacity`. */
export class BoundedCache<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value kept for the key, else the one that `make` gives, which is then kept. */
  getOrMake(key: K, make: () => V): V {
    const known = this.#entries.get(key);
    if (known !== undefined || this.#entries.has(key)) {
      this.#entries.delete(key);
      this.#entries.set(key, known as V);
      return known as V;
    }
    const made = make();
    this.#entries.set(key, made);
    if (this.#entries.size > this.#capacity) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    return made;
  }
}
