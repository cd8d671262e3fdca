import { describeDroppedLines, type HostLog, OutputBudget } from '@runyard/host-protocol';
import type { HostCommand } from './host-command.ts';

const LAST_LINES = 20;

/** Bytes of a child's output that are passed on by default; the rest is counted. */
export const LOG_BYTES_PER_SECOND = 1024 * 1024;

/** Passes on what the child prints past its own capture, as far as the budget allows. */
export class ChildOutput {
  /** The newest lines: they explain why a child could not start. */
  readonly lastLines: string[] = [];
  ranOutOfMemory = false;
  readonly #outOfMemory: RegExp | undefined;
  readonly #onLog: (line: HostLog) => void;
  readonly #budget: OutputBudget;

  constructor(host: Pick<HostCommand, 'outOfMemory'>, bytesPerSecond: number, onLog: (line: HostLog) => void) {
    this.#outOfMemory = host.outOfMemory;
    this.#onLog = onLog;
    this.#budget = new OutputBudget(bytesPerSecond, (lines) =>
      onLog({ level: 'warn', message: describeDroppedLines(lines) }),
    );
  }

  add(level: HostLog['level'], message: string): void {
    if (this.#outOfMemory?.test(message)) this.ranOutOfMemory = true;
    this.lastLines.push(message);
    if (this.lastLines.length > LAST_LINES) this.lastLines.shift();
    if (this.#budget.take(message.length)) this.#onLog({ level, message });
  }

  close(): void {
    this.#budget.close();
  }
}
