/** A step of which nobody hears for this long, in milliseconds, is named again with the time that it has taken. */
const SILENT_MS = 2_000;
/** The most milliseconds between two such lines where they are not written over each other. */
const SILENT_MS_MAX = 30_000;
const REDRAWN_MS = 1_000;
const CLEAR_LINE = '\r\u001b[2K';

/** Reports progress to a waiting person, one line per step with the seconds since the start. */
export interface Progress {
  /**
   * Names what begins or has happened, on the way to what ends with `done`.
   *
   * @param work what takes its time beside other steps; the person hears of it again until it is settled
   */
  step(line: string, work?: Promise<unknown>): void;
  /** Names how it has ended: nobody waits any more. */
  done(line: string): void;
  /** Prints text without a time: it changes nothing of what is waited for. */
  say(text: string): void;
}

/** The terminal, or the file or pipe in its place. */
export interface ProgressOutput {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export function createProgress(out: ProgressOutput, environment: NodeJS.ProcessEnv = process.env): Progress {
  return new TerminalProgress(out, out.isTTY === true && environment.TERM !== 'dumb');
}

interface Step {
  line: string;
  /** Milliseconds of the monotonic clock. */
  since: number;
}

/** On a terminal the line about what takes long is written over itself; elsewhere it comes ever more seldom. */
class TerminalProgress implements Progress {
  readonly #out: ProgressOutput;
  readonly #isRewritten: boolean;
  /** The steps with work of their own that goes on, the newest last. */
  readonly #working = new Set<Step>();
  #latest: Step | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDrawn = false;

  constructor(out: ProgressOutput, isRewritten: boolean) {
    this.#out = out;
    this.#isRewritten = isRewritten;
  }

  step(line: string, work?: Promise<unknown>): void {
    this.#print(timed(line));
    const step = { line, since: performance.now() };
    this.#latest = step;
    if (work) {
      this.#working.add(step);
      const settle = () => void this.#working.delete(step);
      work.then(settle, settle);
    }
    this.#remind(SILENT_MS);
  }

  done(line: string): void {
    this.#latest = undefined;
    clearTimeout(this.#timer);
    this.#print(timed(line));
  }

  say(text: string): void {
    this.#print(text);
    if (this.#latest) this.#remind(SILENT_MS);
  }

  #print(text: string): void {
    this.#out.write(`${this.#isDrawn ? CLEAR_LINE : ''}${text}\n`);
    this.#isDrawn = false;
  }

  /** Says what is waited for once nothing else was printed for some time. It keeps no process alive. */
  #remind(afterMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const step = [...this.#working].at(-1) ?? this.#latest;
      if (!step) return;
      const text = timed(`… ${((performance.now() - step.since) / 1_000).toFixed(0)} s: ${step.line.trimStart()}`);
      if (!this.#isRewritten) {
        this.#print(text);
        this.#remind(Math.min(afterMs * 2, SILENT_MS_MAX));
        return;
      }
      // A line that wraps cannot be written over.
      this.#out.write(CLEAR_LINE + text.slice(0, Math.max(0, (this.#out.columns ?? 80) - 1)));
      this.#isDrawn = true;
      this.#remind(REDRAWN_MS);
    }, afterMs);
    this.#timer.unref();
  }
}

/** The seconds count from the start of the process, not of this module: the wait began there. */
function timed(line: string): string {
  return `${process.uptime().toFixed(1).padStart(5)} s  ${line}`;
}
