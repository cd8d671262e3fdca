import { droppedLines, OutputBudget } from '../output-lines.ts';
import type { HostLog } from '../types.ts';

const LAST_LINES = 20;

/** What the child prints past its own capture: passed on as far as the budget goes. */
export class ChildOutput {
  /** The newest ones: what the child says when it cannot even start. */
  readonly lastLines: string[] = [];
  readonly #onLog: (line: HostLog) => void;
  readonly #budget: OutputBudget;

  constructor(bytesPerSecond: number, onLog: (line: HostLog) => void) {
    this.#onLog = onLog;
    this.#budget = new OutputBudget(bytesPerSecond, (lines) => onLog({ level: 'warn', message: droppedLines(lines) }));
  }

  add(level: HostLog['level'], message: string): void {
    this.lastLines.push(message);
    if (this.lastLines.length > LAST_LINES) this.lastLines.shift();
    if (this.#budget.take(message)) this.#onLog({ level, message });
  }

  close(): void {
    this.#budget.close();
  }
}
