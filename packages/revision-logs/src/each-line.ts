import type { Readable } from 'node:stream';
import { LineSplitter } from '@runyard/host-protocol';

/**
 * A service's line may contain a line of the project with escapes, which make it many times longer in the worst case.
 */
const LINE_LENGTH_MAX = 256 * 1024;

/** Calls `onLine` for each line of the output, with lines of any length. */
export function eachLine(output: Readable, onLine: (line: string) => void, maxLength = LINE_LENGTH_MAX): void {
  const lines = new LineSplitter(onLine, maxLength);
  output.setEncoding('utf8').on('data', (text: string) => lines.push(text));
  output.once('end', () => lines.end());
}
