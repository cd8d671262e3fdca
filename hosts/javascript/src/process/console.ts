/**
 * Sends what user code prints to the parent, with the run, thread and graph that printed it. It never blocks, and
 * buffers a limited amount.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type AuthUser,
  describeDroppedLines,
  type HostLog,
  LineSplitter,
  OutputBudget,
} from '@runyard/host-protocol/graph-process';

export interface PrintContext {
  runId: string;
  threadId: string;
  graphId: string;
}

/** For whom a run's code asks others, and as part of what. */
interface OnBehalf {
  /** The place of the run in a trace. */
  traceparent?: string | undefined;
  /** The project's user whose run it is. */
  user?: AuthUser | undefined;
}

const printing = new AsyncLocalStorage<{ context: PrintContext } & OnBehalf>();

/**
 * Attaches `context` to everything that `work` prints, at any later time too.
 */
export function printAs<T>(context: PrintContext, work: () => T, onBehalf: OnBehalf = {}): T {
  return printing.run({ context, ...onBehalf }, work);
}

/** Returns the context of the run whose code calls this; undefined for code that belongs to no run. */
export function printContext(): PrintContext | undefined {
  return printing.getStore()?.context;
}

/** Returns the place in a trace of the run whose code calls this; undefined when there is none. */
export function runTraceparent(): string | undefined {
  return printing.getStore()?.traceparent;
}

/** Returns the project's user of the run whose code calls this; undefined when there is none. */
export function runUser(): AuthUser | undefined {
  return printing.getStore()?.user;
}

export interface ConsoleOptions {
  bytesPerSecond: number;
  send(line: HostLog): void;
}

/**
 * Captures stdout, stderr and the levels of `console`.
 * @returns a function that prints one more line from the same budget
 */
export function captureConsole({ bytesPerSecond, send }: ConsoleOptions): (line: HostLog) => void {
  let level: HostLog['level'] | undefined;
  const budget = new OutputBudget(bytesPerSecond, (lines) =>
    send({ level: 'warn', message: describeDroppedLines(lines) }),
  );
  const print = (line: HostLog) => {
    const length = line.message.length + (line.data ? JSON.stringify(line.data).length : 0);
    if (budget.take(length)) send({ ...line, ...printContext() });
  };
  for (const [stream, usual] of [
    [process.stdout, 'info'],
    [process.stderr, 'error'],
  ] as const) {
    const lines = new LineSplitter((message) => print({ level: level ?? usual, message }));
    stream.write = ((chunk: string | Uint8Array, encoding?: unknown, done?: unknown) => {
      lines.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'));
      const callback = typeof encoding === 'function' ? encoding : done;
      if (typeof callback === 'function') process.nextTick(callback as () => void);
      return true;
    }) as typeof stream.write;
  }
  for (const method of ['debug', 'info', 'warn', 'error'] as const) {
    const write = console[method].bind(console);
    console[method] = (...values: unknown[]) => {
      level = method;
      try {
        write(...values);
      } finally {
        level = undefined;
      }
    };
  }
  return print;
}
