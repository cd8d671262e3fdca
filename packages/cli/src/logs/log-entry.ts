import type { LogEntry, LogLevel } from '@runyard/contracts';
import type { Colour } from '../output/colours.ts';

/** The width of the second longest level. */
const LEVEL_WIDTH = 7;

/** Formats a line: `2026-11-20 12:00:00.542 INFO    run-worker  looking up the weather`. */
export function formatLogEntry({ timestamp, level, source, message }: LogEntry): string {
  const time = new Date(timestamp).toISOString().slice(0, 23).replace('T', ' ');
  return `${time} ${level.padEnd(LEVEL_WIDTH)} ${source}  ${message}`;
}

export function colourOfLevel(level: LogLevel): Colour | null {
  switch (level) {
    case 'ERROR':
    case 'CRITICAL':
      return 'red';
    case 'WARNING':
      return 'yellow';
    default:
      return null;
  }
}
