import { describeDroppedLines, type HostLog, OutputBudget } from '@runyard/host-protocol';

const LAST_LINES = 20;
/** Matches the line that V8 prints when it has run out of memory. */
const OUT_OF_MEMORY = /^FATAL ERROR: .*(out of memory|Allocation failed)/;

/** Passes on what the child prints past its own capture, as far as the budget allows. */
export class ChildOutput {
  /** The newest lines: they explain why a child could not start. */
  readonly lastLines: string[] = [];
  ranOutOfMemory = false;
  readonly #onLog: (line: HostLog) => void;
  readonly #budget: OutputBudget;

  constructor(bytesPerSecond: number, onLog: (line: HostLog) => void) {
    this.#onLog = onLog;
    this.#budget = new OutputBudget(bytesPerSecond, (lines) =>
      onLog({ level: 'warn', message: describeDroppedLines(lines) }),
    );
  }

  add(level: HostLog['level'], message: string): void {
    if (OUT_OF_MEMORY.test(message)) this.ranOutOfMemory = true;
    this.lastLines.push(message);
    if (this.lastLines.length > LAST_LINES) this.lastLines.shift();
    if (this.#budget.take(message.length)) this.#onLog({ level, message });
  }

  close(): void {
    this.#budget.close();
  }
}
