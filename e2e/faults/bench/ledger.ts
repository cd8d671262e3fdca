import { readFile } from 'node:fs/promises';

/** A step that the probe graph began: what really happened, whatever was recorded of it. */
export interface LedgerEntry {
  run: string;
  thread: string;
  step: number;
  attempt: number;
  /** Process of the graph host, and of the worker above it. */
  host: number;
  worker: number;
  /** `begun` before it did anything, `done` when it had nothing left to do but be recorded; what became of its item for the store. */
  what: 'begun' | 'done' | 'stored' | 'refused';
  /** Milliseconds since 1970. */
  at: number;
}

/** What a run of the ledger graph is asked to do. */
export interface LedgerInput {
  steps: number;
  /** Of each step. Default 0. */
  sleepMs?: number;
  /** Custom events of each step, and the bytes each carries. Default 0. */
  events?: number;
  bytes?: number;
  /** Each step also puts an item into the store, without waiting for it. */
  stores?: boolean;
}

/**
 * The graph's own notes: lines in a file of the machine, which no fault of the bench can reach and which takes every line as
 * often as it is written.
 */
export class Ledger {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  /** The body of a request for a run that notes its steps here. */
  runRequest(input: LedgerInput, overrides: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      assistant_id: 'ledger',
      input: { ...input, ledger: this.file },
      if_not_exists: 'create',
      // More steps than LangGraph takes without being told.
      config: { recursion_limit: input.steps + 5 },
      ...overrides,
    };
  }

  async entries(): Promise<LedgerEntry[]> {
    const text = await readFile(this.file, 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LedgerEntry);
  }

  /** By run, in the order of writing. */
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
