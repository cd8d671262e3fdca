/** What user code prints, told to the parent with the run and thread that printed it. Never blocks, never unbounded. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { HostLog } from '../types.ts';

export interface PrintContext {
  runId: string;
  threadId: string;
}

const MAX_LINE_LENGTH = 16 * 1024;
const printing = new AsyncLocalStorage<PrintContext>();

/** Everything `work` prints, however late, carries `context`. */
export function printAs<T>(context: PrintContext, work: () => T): T {
  return printing.run(context, work);
}

export interface ConsoleOptions {
  bytesPerSecond: number;
  send(line: HostLog): void;
}

/** Takes over stdout, stderr and the levels of `console`. */
export function captureConsole({ bytesPerSecond, send }: ConsoleOptions): void {
  let level: HostLog['level'] | undefined;
  let budget = bytesPerSecond;
  let suppressed = 0;
  setInterval(() => {
    budget = bytesPerSecond;
    if (suppressed > 0)
      send({ level: 'warn', message: `${suppressed} lines of output were dropped: too much per second` });
    suppressed = 0;
  }, 1000).unref();

  const tell = (lineLevel: HostLog['level'], line: string) => {
    const message = line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}…` : line;
    budget -= message.length;
    if (budget < 0) suppressed++;
    else send({ level: lineLevel, message, ...printing.getStore() });
  };
  for (const [stream, usual] of [
    [process.stdout, 'info'],
    [process.stderr, 'error'],
  ] as const) {
    const lines = new LineSplitter((line) => tell(level ?? usual, line));
    stream.write = ((chunk: string | Uint8Array, encoding?: unknown, done?: unknown) => {
      lines.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'));
      const callback = typeof encoding === 'function' ? encoding : done;
      if (typeof callback === 'function') process.nextTick(callback as () => void);
      return true;
    }) as typeof stream.write;
  }
  for (const method of ['debug', 'info', 'warn', 'error'] as const) {
    const print = console[method].bind(console);
    console[method] = (...values: unknown[]) => {
      level = method;
      try {
        print(...values);
      } finally {
        level = undefined;
      }
    };
  }
}

/** Whole lines out of pieces; what has no end yet waits, up to the longest line. */
class LineSplitter {
  readonly #onLine: (line: string) => void;
  #rest = '';
  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }
  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') this.#onLine(line);
    if (this.#rest.length > MAX_LINE_LENGTH) {
      this.#onLine(this.#rest);
      this.#rest = '';
    }
  }
}
