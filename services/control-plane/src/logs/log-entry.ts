import type { LogLevel } from '@runyard/contracts';
import { redactText } from '@runyard/service-kit';

/** One line of a log, as it is kept. */
export interface StoredEntry {
  /** A UUID of version 7: entries sort by it as they were written, also those of one millisecond. */
  id: string;
  /** When the line was received (ISO 8601, milliseconds); the same instant as in the id. */
  timestamp: string;
  level: LogLevel;
  /** What printed it: `agent-api`, `run-worker-2`, `build`. */
  source: string;
  message: string;
  /** Whose code printed it, when it was a run's. */
  runId?: string;
  threadId?: string;
  graphId?: string;
  /** What else the line says. */
  fields?: Record<string, unknown>;
}

/** What a line says, without where it stands in a log. */
export type LineContent = Omit<StoredEntry, 'id' | 'timestamp' | 'source'>;

const LEVEL_NAMES: Record<string, LogLevel> = {
  silly: 'DEBUG',
  trace: 'DEBUG',
  debug: 'DEBUG',
  verbose: 'DEBUG',
  http: 'DEBUG',
  log: 'INFO',
  info: 'INFO',
  notice: 'INFO',
  warn: 'WARNING',
  warning: 'WARNING',
  err: 'ERROR',
  error: 'ERROR',
  fatal: 'CRITICAL',
  critical: 'CRITICAL',
};

/** The platform's own services log JSON; what else is printed is taken as it is. */
export function parseLine(line: string, usualLevel: LogLevel): LineContent {
  if (line.startsWith('{')) {
    try {
      const {
        time: _received,
        level,
        message,
        service: _source,
        ...rest
      } = JSON.parse(line) as Record<string, unknown>;
      if (typeof message === 'string') {
        return { level: levelNamed(level) ?? usualLevel, message, ...withRun(rest) };
      }
    } catch {
      // A line that only begins like JSON.
    }
  }
  return { level: usualLevel, message: redactText(line) };
}

/** One line for people. */
export function describeEntry(entry: StoredEntry): string {
  return `${entry.source}: ${messageOf(entry)}`;
}

/** The message with the reasons of its error, if it tells of one. */
export function messageOf({ message, fields }: Pick<StoredEntry, 'message' | 'fields'>): string {
  const error = fields?.error as { message?: unknown; cause?: { message?: unknown } } | null | undefined;
  const reasons = [error?.message, error?.cause?.message].filter((reason) => typeof reason === 'string');
  return [message, ...reasons].join(': ');
}

/** Of the ids of runs, threads and graphs in a line. */
export const ID_LENGTH_MAX = 255;

/** What has the name of an id and is none stays among the fields. */
function withRun(content: Record<string, unknown>): Partial<LineContent> {
  const run: Partial<LineContent> = {};
  const fields = { ...content };
  for (const name of ['runId', 'threadId', 'graphId'] as const) {
    const id = content[name];
    if (typeof id !== 'string' || id.length > ID_LENGTH_MAX) continue;
    run[name] = id;
    delete fields[name];
  }
  return { ...run, ...(Object.keys(fields).length > 0 && { fields }) };
}

function levelNamed(level: unknown): LogLevel | undefined {
  return typeof level === 'string' ? LEVEL_NAMES[level.toLowerCase()] : undefined;
}
