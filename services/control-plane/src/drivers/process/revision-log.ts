import { createWriteStream, fstatSync, openSync, renameSync, type WriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@runyard/service-kit';

export interface LogEntry {
  timestamp: string;
  level: string;
  /** The process it came from: `agent-api`, `run-worker`. */
  process: string;
  message: string;
  /** Of what the platform's own services log of an error. */
  error?: { message?: unknown; cause?: { message?: unknown } };
}

const FILE_LIMIT_BYTES = 8 * 1024 * 1024;
/** What a slow disk may keep waiting in memory; further lines are lost. */
const WAITING_LIMIT_BYTES = 16 * 1024 * 1024;
const LINE_LIMIT = 16_384;
const REMEMBERED = 40;

/**
 * What the processes of one revision print: a file of JSON lines, of bounded size (one older file is kept beside it), and
 * the newest lines in memory. A full or slow disk loses lines, never a process.
 */
export class RevisionLog {
  readonly #path: string;
  readonly #logger: Logger;
  #file: WriteStream | undefined;
  #bytes = 0;
  readonly #recent: LogEntry[] = [];

  private constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
  }

  static async open(
    dataDir: string,
    revision: { deploymentId: string; revisionId: string },
    logger: Logger,
  ): Promise<RevisionLog> {
    const folder = RevisionLog.folderOf(dataDir, revision.deploymentId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const log = new RevisionLog(join(folder, `${revision.revisionId}.log`), logger);
    log.#openFile();
    return log;
  }

  static folderOf(dataDir: string, deploymentId: string): string {
    return join(dataDir, 'logs', deploymentId);
  }

  write(line: string, process: string, stream: 'stdout' | 'stderr'): void {
    const entry = parseLine(line.slice(0, LINE_LIMIT), process, stream);
    this.#recent.push(entry);
    if (this.#recent.length > REMEMBERED) this.#recent.shift();
    this.#logger.debug(`${process}: ${entry.message}`);
    if (!this.#file || this.#file.writableLength > WAITING_LIMIT_BYTES) return;
    const text = `${JSON.stringify(entry)}\n`;
    this.#file.write(text);
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > FILE_LIMIT_BYTES) this.#rotate();
  }

  /** The newest lines, oldest first. */
  recent(count: number): LogEntry[] {
    return this.#recent.slice(-count);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file) await new Promise<void>((resolve) => file.end(() => resolve()));
  }

  /** The open file keeps its content under the new name; lines go on into a new one at once. */
  #rotate(): void {
    this.#file?.end();
    this.#file = undefined;
    try {
      renameSync(this.#path, `${this.#path}.1`);
      this.#openFile();
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #openFile(): void {
    const fd = openSync(this.#path, 'a', 0o600);
    this.#bytes = fstatSync(fd).size;
    const file = createWriteStream(this.#path, { fd });
    file.on('error', (error) => {
      if (this.#file === file) this.#giveUp(error);
    });
    this.#file = file;
  }

  #giveUp(error: unknown): void {
    this.#logger.warn('the log of a revision cannot be written', { path: this.#path, error });
    this.#file = undefined;
  }
}

/** The platform's own services log JSON; what else is printed is taken as it is. */
function parseLine(line: string, process: string, stream: 'stdout' | 'stderr'): LogEntry {
  const plain = {
    timestamp: new Date().toISOString(),
    level: stream === 'stderr' ? 'error' : 'info',
    process,
    message: line,
  };
  if (!line.startsWith('{')) return plain;
  try {
    const { time, level, message, service: _same, ...fields } = JSON.parse(line) as Record<string, unknown>;
    if (typeof message !== 'string') return plain;
    return {
      timestamp: typeof time === 'string' ? time : plain.timestamp,
      level: typeof level === 'string' ? level : plain.level,
      process,
      message,
      ...fields,
    };
  } catch {
    return plain;
  }
}

/** One line for people. */
export function describeEntry(entry: LogEntry): string {
  const reasons = [entry.error?.message, entry.error?.cause?.message].filter((reason) => typeof reason === 'string');
  return [`${entry.process}: ${entry.message}`, ...reasons].join(': ');
}
