export const KINDS = ['assistants', 'threads', 'store', 'crons'] as const;
export type Kind = (typeof KINDS)[number];

/**
 * `copied`: it was written and read back as it is at the source. `present`: it was there already, and is the same.
 * `different`: it is there and is not the same. `skipped`: it was left out on purpose.
 */
export const OUTCOMES = ['copied', 'present', 'skipped', 'different', 'failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Note {
  outcome: Outcome;
  reason: string;
  count: number;
  /** The first of them. */
  examples: string[];
}

const EXAMPLES_MAX = 5;
const NOTES_MAX = 30;

/** Counts what became of the things of one kind. */
export class Tally {
  readonly counts: Record<Outcome, number> = { copied: 0, present: 0, skipped: 0, different: 0, failed: 0 };
  readonly #notes = new Map<string, Note>();

  get found(): number {
    return OUTCOMES.reduce((sum, outcome) => sum + this.counts[outcome], 0);
  }

  get notes(): Note[] {
    return [...this.#notes.values()];
  }

  /** @param reason a sentence without names, so that the same reason is one note */
  add(outcome: Outcome, id: string, reason?: string): void {
    this.counts[outcome] += 1;
    if (reason === undefined) return;
    const key = `${outcome} ${reason}`;
    // Servers put names into their sentences: an unbounded number of notes would fill the memory and the screen.
    const note = this.#notes.get(key) ?? this.#newNote(key, outcome, reason);
    note.count += 1;
    if (note.examples.length < EXAMPLES_MAX) note.examples.push(id);
  }

  #newNote(key: string, outcome: Outcome, reason: string): Note {
    const isFull = this.#notes.size >= NOTES_MAX;
    const known = isFull ? this.#notes.get(outcome) : undefined;
    if (known) return known;
    const note = { outcome, reason: isFull ? 'for other reasons' : reason, count: 0, examples: [] };
    this.#notes.set(isFull ? outcome : key, note);
    return note;
  }
}
