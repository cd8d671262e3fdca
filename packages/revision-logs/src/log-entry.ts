import type { LogLevel } from '@runyard/contracts';
import { redactText } from '@runyard/service-kit';

/** One line of a log, as it is stored. */
export interface StoredEntry {
  /** A UUID of version 7: ids sort in the order of writing, also within a millisecond. */
  id: string;
  /** The time the line was received (ISO 8601, milliseconds); equal to the time in the id. */
  timestamp: string;
  level: LogLevel;
  /** The process that printed the line: `agent-api`, `run-worker-2`, `build`. */
  source: string;
  message: string;
  /** The run whose code printed the line, if any. */
  runId?: string;
  threadId?: string;
  graphId?: string;
  /** All other fields of the line. */
  fields?: Record<string, unknown>;
}

/** The content of a line, without its position in a log. */
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

/** A line's content, and the service that it says it is from. */
export type ParsedLine = LineContent & { service?: string };

/** Parses a line. The platform's own services log JSON; all other lines become messages. */
export function parseLine(line: string, usualLevel: LogLevel): ParsedLine {
  if (line.startsWith('{')) {
    try {
      const { time: _received, level, message, service, ...rest } = JSON.parse(line) as Record<string, unknown>;
      if (typeof message === 'string') {
        const named = typeof service === 'string' && { service };
        return { level: parseLevel(level) ?? usualLevel, message, ...readRunFields(rest), ...named };
      }
    } catch {
      // The line only begins like JSON.
    }
  }
  return { level: usualLevel, message: redactText(line) };
}

/** Formats an entry as one line for people. */
export function describeEntry(entry: StoredEntry): string {
  return `${entry.source}: ${messageOf(entry)}`;
}

/** Returns the message with the causes of its error, if it has one. A cause that was already named is left out. */
export function messageOf({ message, fields }: Pick<StoredEntry, 'message' | 'fields'>): string {
  const error = fields?.error as { message?: unknown; cause?: { message?: unknown } } | null | undefined;
  const reasons = [error?.message, error?.cause?.message].filter((reason) => typeof reason === 'string');
  return reasons.reduce((text, reason) => (text.includes(reason) ? text : `${text}: ${reason}`), message);
}

/** Longest id of a run, thread or graph in a line, in characters. */
export const ID_LENGTH_MAX = 255;

/** Extracts the ids. A field with the name of an id that does not contain one stays among the fields. */
function readRunFields(content: Record<string, unknown>): Partial<LineContent> {
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

function parseLevel(level: unknown): LogLevel | undefined {
  return typeof level === 'string' ? LEVEL_NAMES[level.toLowerCase()] : undefined;
}
