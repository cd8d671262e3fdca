import type { BuildReport, ReportedLogEntry } from '@runyard/contracts';
import { EntryMaker, type StoredEntry, type WriteOptions } from '@runyard/revision-logs';

/** Bytes of lines in one report. */
const REPORT_BYTES = 200_000;
/** Bytes after which the lines go to another file. */
const FILE_BYTES = 1_500_000;
/** Bytes of lines that wait for control-plane; further lines are lost. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
const LINES_MAX = 5_000;

interface WaitingEntry {
  entry: ReportedLogEntry;
  bytes: number;
}

/** The log of one build, whose lines wait here until control-plane has them. Writing never waits and never throws. */
export class BuildLog {
  readonly #entries: EntryMaker;
  readonly #waiting: WaitingEntry[] = [];
  #waitingBytes = 0;
  #lost = 0;
  /** The first and the last line that control-plane has of the current file. */
  #file: { firstId: string; lastId: string; bytes: number } | undefined;

  /** @param secrets values that are masked in every line */
  constructor(secrets: Iterable<string>) {
    this.#entries = new EntryMaker({ secrets });
  }

  write(line: string, options: WriteOptions): void {
    if (this.#waitingBytes > WAITING_BYTES_MAX) {
      this.#lost += 1;
      return;
    }
    if (this.#lost > 0) {
      const note = `${this.#lost} lines were lost here: control-plane did not take them`;
      this.#lost = 0;
      this.#push(this.#entries.make(note, { level: 'WARNING', source: options.source }));
    }
    this.#push(this.#entries.make(line, options));
  }

  /** Returns the newest entries, the oldest first. */
  recent(count: number): StoredEntry[] {
    return this.#entries.recent(count);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Returns the lines for the next report; undefined without any. */
  next(): NonNullable<BuildReport['log']> | undefined {
    const first = this.#waiting[0];
    if (!first) return undefined;
    if (this.#file && this.#file.bytes > FILE_BYTES) this.#file = undefined;
    const entries: ReportedLogEntry[] = [];
    let bytes = 0;
    for (const { entry, bytes: own } of this.#waiting) {
      if (entries.length > 0 && (bytes + own > REPORT_BYTES || entries.length >= LINES_MAX)) break;
      entries.push(entry);
      bytes += own;
    }
    return { first_id: this.#file?.firstId ?? first.entry.id, after: this.#file?.lastId ?? null, entries };
  }

  /**
   * Forgets the lines that control-plane has now.
   *
   * @param lastId what it says to a report with these lines; another id than was sent means that it has another file
   */
  taken({ first_id: firstId, entries }: NonNullable<BuildReport['log']>, lastId: string | null): void {
    const known = entries.findIndex(({ id }) => id === lastId);
    if (known < 0 || lastId === null) {
      // The file is full, or another control-plane has it: another one is begun.
      this.#file = undefined;
      return;
    }
    const bytes = this.#drop(known + 1);
    this.#file = { firstId, lastId, bytes: (this.#file?.bytes ?? 0) + bytes };
  }

  /** Forgets lines that control-plane refuses. */
  refused({ entries }: NonNullable<BuildReport['log']>): void {
    this.#drop(entries.length);
    this.#lost += entries.length;
  }

  /** @returns the bytes of the lines */
  #drop(count: number): number {
    const bytes = this.#waiting.splice(0, count).reduce((sum, each) => sum + each.bytes, 0);
    this.#waitingBytes -= bytes;
    return bytes;
  }

  #push(entry: StoredEntry): void {
    const reported = toReported(entry);
    const bytes = Buffer.byteLength(JSON.stringify(reported));
    this.#waiting.push({ entry: reported, bytes });
    this.#waitingBytes += bytes;
  }
}

function toReported({ timestamp: _, runId, threadId, graphId, ...entry }: StoredEntry): ReportedLogEntry {
  return {
    ...entry,
    ...(runId !== undefined && { run_id: runId }),
    ...(threadId !== undefined && { thread_id: threadId }),
    ...(graphId !== undefined && { graph_id: graphId }),
  };
}
