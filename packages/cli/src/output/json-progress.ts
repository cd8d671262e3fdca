import type { OutputStream } from '../command-context.ts';
import type { Progress } from './progress-event.ts';

/** Prints JSON lines for programs. */
export function createJsonProgress(out: OutputStream): Progress {
  return { report: (event) => void out.write(`${JSON.stringify(event)}\n`), close: () => {} };
}
