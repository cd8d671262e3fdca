import { isUuid, type LogLevel } from '@runyard/contracts';
import { type Command, InvalidArgumentError, Option } from 'commander';

/** Adds the options of every command that calls a platform. */
export function addConnectionOptions(command: Command): Command {
  return command
    .option('--host-url <url>', 'where the platform is (RUNYARD_URL, LANGGRAPH_HOST_URL)')
    .option('--api-key <key>', 'who asks; better as RUNYARD_API_KEY, which no list of processes shows')
    .option('--tenant-id <id>', 'the workspace, for keys of a whole organization (LANGSMITH_TENANT_ID)')
    .option('--no-input', 'never ask; fail where something is missing')
    .option('--verbose', 'tell each request on the error stream; deploy: what pushes and starting servers say, too');
}

export function jsonOption(what: string): Option {
  return new Option('--json', `${what} as JSON, one object per line`).default(false, 'lines for people');
}

/** Refuses an empty text, which a script may pass by mistake. */
export function parseNonEmptyText(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It is empty.');
}

/** Parses the id of a thread or the like, which becomes a part of a path. */
export function parseUuid(text: string): string {
  if (isUuid(text)) return text;
  throw new InvalidArgumentError('It is a UUID.');
}

/** Adds a header, `name: value`, to those given before. */
export function collectHeader(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(\S.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It is `name: value`.');
  return { ...earlier, [name.toLowerCase()]: value };
}

/** Adds an entry, `key=value`, to those given before. A value that is JSON, such as a number, is taken as that. */
export function collectMetadata(text: string, earlier: Record<string, unknown> = {}): Record<string, unknown> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError('It is `key=value`.');
  return { ...earlier, [key]: parseValue(value) };
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const POINT_IN_TIME = /^(\d{4}-\d\d-\d\d)(?:[tT ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?([zZ]|[+-]\d\d(?::?\d\d)?)?)?$/;

/** Parses a whole number in a range. */
export function parseWholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= from && number <= to) return number;
    throw new InvalidArgumentError(`It is a whole number from ${from} to ${to}.`);
  };
}

/**
 * Parses a date, or a date with a time, into the form of the platform. Without a zone it is UTC, like the times that
 * are shown.
 */
export function parsePointInTime(text: string): string {
  const [, date, time = '', zone = ''] = POINT_IN_TIME.exec(text.trim()) ?? [];
  const hours = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone;
  const point = new Date(time === '' ? `${date}` : `${date}T${time}${hours || 'Z'}`);
  if (!Number.isNaN(point.getTime())) return point.toISOString();
  throw new InvalidArgumentError('It is a time such as 2026-11-20T12:00:00Z.');
}

export function parseImageTag(text: string): string {
  if (/^\w[\w.-]{0,127}$/.test(text)) return text;
  throw new InvalidArgumentError('It has letters, digits, `_`, `-` and `.`.');
}

export const LOG_LEVELS: readonly Lowercase<LogLevel>[] = ['debug', 'info', 'warning', 'error', 'critical'];

export function parseLogLevel(text: string): LogLevel {
  if (LOG_LEVELS.some((level) => level === text.toLowerCase())) return text.toUpperCase() as LogLevel;
  throw new InvalidArgumentError(`It is one of ${LOG_LEVELS.join(', ')}.`);
}
