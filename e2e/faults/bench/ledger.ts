import { readFile } from 'node:fs/promises';

/** A step that the probe graph began: what really happened, whatever was recorded of it. */
export interface LedgerEntry {
  run: string;
  thread: string;
  step: number;
  attempt: number;
  /** Process ids of the graph host, and of the worker above it. */
  host: number;
  worker: number;
  /**
   * `begun` before it did anything, `done` when only the record was left to write; `stored` and `refused` for its item
   * in the store.
   */
  what: 'begun' | 'done' | 'stored' | 'refused';
  /** Milliseconds since 1970. */
  at: number;
}

/** The input of a run of the ledger graph. */
export interface LedgerInput {
  steps: number;
  /** Milliseconds of each step. Default 0. */
  sleepMs?: number;
  /** Custom events of each step, and the bytes of each. Default 0. */
  events?: number;
  bytes?: number;
  /** True when each step also puts an item into the store, without waiting for it. */
  stores?: boolean;
}

/**
 * Reads the graph's own notes: lines in a file of the machine, which no fault of the bench can reach and which keeps
 * every line as often as it is written.
 */
export class Ledger {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  /** Returns the body of a request for a run that notes its steps here. */
  runRequest(input: LedgerInput, overrides: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      assistant_id: 'ledger',
      input: { ...input, ledger: this.file },
      if_not_exists: 'create',
      // LangGraph's default limit of steps is lower.
      config: { recursion_limit: input.steps + 5 },
      ...overrides,
    };
  }

  async entries(): Promise<LedgerEntry[]> {
    const text = await readFile(this.file, 'utf8').catch(() => '');
    // A read beside a write may end in the middle of a line, which is no entry yet.
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LedgerEntry);
  }

  /** Returns the entries by run, in the order of writing. */
  async byRun(): Promise<Map<string, LedgerEntry[]>> {
    const byRun = new Map<string, LedgerEntry[]>();
    for (const entry of await this.entries()) {
      const entries = byRun.get(entry.run);
      if (entries) entries.push(entry);
      else byRun.set(entry.run, [entry]);
    }
    return byRun;
  }
}
