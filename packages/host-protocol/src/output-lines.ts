import type { Readable } from 'node:stream';

/** Characters of the longest line; a longer one is cut. */
const MAX_LINE_LENGTH = 16 * 1024;

/**
 * Limits output per second. It counts the lines that do not fit, and reports their number when the second has passed.
 */
export class OutputBudget {
  readonly #bytesPerSecond: number;
  readonly #onDropped: (lines: number) => void;
  #left: number;
  #dropped = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(bytesPerSecond: number, onDropped: (lines: number) => void) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#left = bytesPerSecond;
    this.#onDropped = onDropped;
    this.#timer = setInterval(() => this.#renew(), 1000).unref();
  }

  /** Returns whether a line of this length still fits; counts it as dropped otherwise. */
  take(length: number): boolean {
    this.#left -= length;
    if (this.#left < 0) this.#dropped++;
    return this.#left >= 0;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#renew();
  }

  #renew(): void {
    this.#left = this.#bytesPerSecond;
    if (this.#dropped > 0) this.#onDropped(this.#dropped);
    this.#dropped = 0;
  }
}

export function describeDroppedLines(lines: number): string {
  return `${lines} lines of output were dropped: too much per second`;
}

/** Splits output into lines. A line without an end waits for it, up to the longest line. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #maxLength: number;
  #rest = '';

  constructor(onLine: (line: string) => void, maxLength = MAX_LINE_LENGTH) {
    this.#onLine = onLine;
    this.#maxLength = maxLength;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#emit(line);
    if (this.#rest.length > this.#maxLength) this.end();
  }

  /** Emits the rest as a line when nothing follows. */
  end(): void {
    this.#emit(this.#rest);
    this.#rest = '';
  }

  #emit(line: string): void {
    if (line.trim() !== '') this.#onLine(truncate(line, this.#maxLength));
  }
}

/** Calls back for each line of a process's output, which is always drained. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  const lines = new LineSplitter(onLine);
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => lines.push(text));
  stream.on('error', () => {});
}

export function truncate(line: string, maxLength = MAX_LINE_LENGTH): string {
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}
