/** Milliseconds for which a text is kept at least: who has it loaded reads it a moment later. */
const KEPT_MS = 10_000;

/** Texts by name, of which those that were used last are kept in so much memory. */
export class RecentTexts {
  readonly #charactersMax: number;
  readonly #texts = new Map<string, { text: string; usedAt: number }>();
  #characters = 0;

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  get(name: string): string | undefined {
    const entry = this.#texts.get(name);
    if (!entry) return undefined;
    entry.usedAt = performance.now();
    this.#texts.delete(name);
    this.#texts.set(name, entry);
    return entry.text;
  }

  set(name: string, text: string): void {
    this.#delete(name);
    this.#texts.set(name, { text, usedAt: performance.now() });
    this.#characters += name.length + text.length;
    const keptSince = performance.now() - KEPT_MS;
    for (const [oldest, { usedAt }] of this.#texts) {
      if (this.#characters <= this.#charactersMax || usedAt > keptSince) return;
      this.#delete(oldest);
    }
  }

  #delete(name: string): void {
    const entry = this.#texts.get(name);
    if (!entry) return;
    this.#texts.delete(name);
    this.#characters -= name.length + entry.text.length;
  }
}
