/** Reports progress to a waiting person, one line per step with the seconds since the start. */
export interface Progress {
  step(line: string): void;
  /** Prints text without a time, for the end. */
  say(text: string): void;
}

export function createProgress(out: { write(text: string): unknown }): Progress {
  // The seconds count from the start of the process, not of this module: the wait began there.
  const seconds = () => process.uptime().toFixed(1).padStart(5);
  return {
    step: (line) => void out.write(`${seconds()} s  ${line}\n`),
    say: (text) => void out.write(`${text}\n`),
  };
}
