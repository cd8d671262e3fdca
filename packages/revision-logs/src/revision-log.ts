import { createWriteStream, mkdirSync, openSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from '@runyard/service-kit';
import { EntryIds } from './entry-ids.ts';
import { EntryMaker, type WriteOptions } from './entry-maker.ts';
import type { StoredEntry } from './log-entry.ts';
import { keepWithinLimit, SEGMENT_LIMIT_BYTES } from './log-limits.ts';
import { type LogOwner, logSegments } from './log-segments.ts';

/** Writes the log of one revision. Writing never waits and never throws. */
export interface RevisionLog {
  /**
   * Writes one line, given without its line feed. A line of the platform's own services (JSON with a `message`) keeps
   * its level and fields.
   */
  write(line: string, options: WriteOptions): void;
  /** Returns the newest entries since this log was opened, the oldest first; at most `REMEMBERED`. */
  recent(count: number): StoredEntry[];
  /** Resolves when all lines are in the file. */
  close(): Promise<void>;
}

/** Opens a log for writing. Values of `secrets` are masked in every line. */
export type OpenRevisionLog = (owner: LogOwner, options: { secrets: Iterable<string> }) => RevisionLog;

/** Hooks for code that forwards lines. */
export interface LogHooks {
  /** Called when lines of this log have reached their file. */
  onWritten?(owner: LogOwner): void;
}

/** Well below the shortest retention, so that a file that is being written never expires. */
const SEGMENT_LIMIT_MS = 12 * 60 * 60 * 1000;
/** Bytes that wait in memory for a slow disk; further lines are lost. */
const WAITING_LIMIT_BYTES = 16 * 1024 * 1024;
/** Milliseconds without attempts after the disk failed. */
const BROKEN_MS = 5_000;

/** Opens logs below this folder. They share one clock, so that entries of several logs have an order. */
export function makeLogOpener(dataDir: string, logger: Logger, { onWritten }: LogHooks = {}): OpenRevisionLog {
  const ids = new EntryIds();
  return (owner, { secrets }) => {
    const { deploymentId, revisionId, kind } = owner;
    return new SegmentedLog(owner, {
      dataDir,
      entries: new EntryMaker({ secrets, ids }),
      logger: logger.child({ deploymentId, revisionId, log: kind }),
      ...(onWritten && { onWritten: () => onWritten(owner) }),
    });
  };
}

interface SegmentedLogOptions {
  dataDir: string;
  entries: EntryMaker;
  logger: Logger;
  onWritten?: () => void;
}

/**
 * Writes JSON lines to files of bounded size, removes the oldest files of a large log, and keeps the newest lines in
 * memory. A full or slow disk loses lines, but never ends the process.
 */
class SegmentedLog implements RevisionLog {
  readonly #owner: LogOwner;
  readonly #options: SegmentedLogOptions;
  /** Created with the first line, because some processes open a log and never write to it. */
  #file: WriteStream | undefined;
  #bytes = 0;
  #begunAt = 0;
  #lost = 0;
  #brokenUntil = 0;
  #isClosed = false;
  #removingOld: Promise<void> = Promise.resolve();

  constructor(owner: LogOwner, options: SegmentedLogOptions) {
    this.#owner = owner;
    this.#options = options;
  }

  write(line: string, options: WriteOptions): void {
    const { entries, logger } = this.#options;
    const isLost = !this.#isWritable();
    if (this.#lost > 0 && !isLost) {
      const note = `${this.#lost} lines were lost here: the disk did not take them`;
      this.#lost = 0;
      this.#append(entries.make(note, { level: 'WARNING', source: options.source }));
    }
    const entry = entries.make(line, options);
    logger.debug(`${entry.source}: ${entry.message}`);
    if (isLost) this.#lost += 1;
    else this.#append(entry);
  }

  recent(count: number): StoredEntry[] {
    return this.#options.entries.recent(count);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await closeFile(this.#file);
    await this.#removingOld;
  }

  #isWritable(): boolean {
    if (this.#isClosed || Date.now() < this.#brokenUntil) return false;
    return (this.#file?.writableLength ?? 0) <= WAITING_LIMIT_BYTES;
  }

  #append(entry: StoredEntry): void {
    const text = `${JSON.stringify(entry)}\n`;
    this.#bytes += Buffer.byteLength(text);
    const isFull = this.#bytes > SEGMENT_LIMIT_BYTES || Date.now() - this.#begunAt > SEGMENT_LIMIT_MS;
    if (!this.#file || isFull) this.#beginFile(entry.id, Buffer.byteLength(text));
    this.#file?.write(text, this.#options.onWritten);
  }

  /** Begins a file. After a failure the next attempt comes `BROKEN_MS` later. */
  #beginFile(firstId: string, bytes: number): void {
    const written = closeFile(this.#file);
    this.#file = undefined;
    this.#bytes = bytes;
    this.#begunAt = Date.now();
    const { path } = logSegments.at(this.#options.dataDir, this.#owner, firstId);
    try {
      // Retention removes the folder when all its files have expired.
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const file = createWriteStream(path, { fd: openSync(path, 'ax', 0o600) });
      file.on('error', (error) => {
        this.#handleFailure(error);
        if (this.#file === file) this.#file = undefined;
      });
      this.#file = file;
    } catch (error) {
      this.#handleFailure(error);
    }
    // Bytes that are not on the disk yet would not be counted.
    this.#removingOld = Promise.all([this.#removingOld, written])
      .then(async () => void (await keepWithinLimit(this.#options.dataDir, this.#owner)))
      .catch((error: unknown) => this.#warn(error));
  }

  #handleFailure(error: unknown): void {
    this.#brokenUntil = Date.now() + BROKEN_MS;
    this.#warn(error);
  }

  #warn(error: unknown): void {
    this.#options.logger.warn('revision log not written', { error });
  }
}

async function closeFile(file: WriteStream | undefined): Promise<void> {
  if (!file || file.destroyed) return;
  await new Promise<void>((resolve) => {
    file.once('close', () => resolve());
    file.end();
  });
}
