import type { OutputStream } from '../surroundings.ts';
import type { Progress } from './progress-event.ts';

/** Prints JSON lines for programs. */
export function jsonProgress(out: OutputStream): Progress {
  return { tell: (event) => void out.write(`${JSON.stringify(event)}\n`), close: () => {} };
}
