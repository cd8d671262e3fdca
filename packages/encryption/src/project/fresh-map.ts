/** A map of the entries that were used last, which knows how old they are. */
export class FreshMap<Value> {
  readonly #entriesMax: number;
  readonly #freshMs: number;
  readonly #entries = new Map<string, { value: Value; since: number }>();

  constructor(entriesMax: number, freshMs: number) {
    this.#entriesMax = entriesMax;
    this.#freshMs = freshMs;
  }

  /** Returns a value, fresh or not. */
  get(name: string): Value | undefined {
    return this.#entries.get(name)?.value;
  }

  /** Returns whether there is a value that is not too old, or by so much; one that is asked for stays longest. */
  isFresh(name: string, graceMs = 0): boolean {
    const entry = this.#entries.get(name);
    if (!entry || performance.now() - entry.since >= this.#freshMs + graceMs) return false;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return true;
  }

  set(name: string, value: Value): void {
    this.#entries.delete(name);
    this.#entries.set(name, { value, since: performance.now() });
    if (this.#entries.size > this.#entriesMax) this.#entries.delete(this.#entries.keys().next().value!);
  }

  delete(name: string): void {
    this.#entries.delete(name);
  }
}
