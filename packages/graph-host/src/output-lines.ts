/** Whole lines out of what a process prints, each cut to a length, all together held to a rate. */
const MAX_LINE_LENGTH = 16 * 1024;

/** Counts what does not fit into a second instead of passing it on, and says so once the second is over. */
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

  /** False when a line of so many characters is one too many. */
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

export function droppedLines(lines: number): string {
  return `${lines} lines of output were dropped: too much per second`;
}

/** What has no end yet waits for it, up to the longest line. */
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
    for (const line of lines) this.#tell(line);
    if (this.#rest.length > this.#maxLength) this.end();
  }

  /** Nothing follows: what waits for its end is a line. */
  end(): void {
    this.#tell(this.#rest);
    this.#rest = '';
  }

  #tell(line: string): void {
    if (line.trim() !== '') this.#onLine(cut(line, this.#maxLength));
  }
}

export function cut(line: string, maxLength = MAX_LINE_LENGTH): string {
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}
