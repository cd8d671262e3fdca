import { toPlainLine } from './plain-text.ts';

const TEXT_MAX = 200;
const KEYS_MAX = 10;
const DEPTH_MAX = 4;

/**
 * Describes a JSON value in one line of at most so many characters: a list by its length and its last element, a
 * message by who says what. It costs little however large the value is.
 */
export function summarize(value: unknown, max: number): string {
  return cutLine(describe(value, 0), max);
}

/** Returns a text as one line of at most so many characters, for terminals. */
export function cutLine(text: string, max: number): string {
  const line = toPlainLine(text.length > max * 4 ? text.slice(0, max * 4) : text);
  if (line.length <= max) return line;
  // Half of a pair would be shown as a sign for what cannot be shown.
  return `${line.slice(0, Math.max(max - 1, 0)).replace(/[\ud800-\udbff]$/, '')}…`;
}

function describe(value: unknown, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(cutLine(value, TEXT_MAX));
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth === DEPTH_MAX) return Array.isArray(value) ? '[…]' : '{…}';
  if (Array.isArray(value)) return describeList(value, depth);
  return describeMessage(value, depth) ?? describeObject(value, depth);
}

function describeList(list: unknown[], depth: number): string {
  if (list.length === 0) return '[]';
  const before = list.length > 1 ? `${list.length - 1} more, ` : '';
  return `[${before}${describe(list.at(-1), depth + 1)}]`;
}

function describeObject(value: object, depth: number): string {
  const keys = Object.keys(value);
  const fields = keys
    .slice(0, KEYS_MAX)
    .map((key) => `${cutLine(key, TEXT_MAX)}: ${describe((value as Record<string, unknown>)[key], depth + 1)}`);
  return `{${[...fields, ...(keys.length > KEYS_MAX ? ['…'] : [])].join(', ')}}`;
}

/** Describes a message of LangChain: `ai "It rains."`, or `ai calls weather({city: "Ulm"})`. */
function describeMessage(value: object, depth: number): string | undefined {
  const { type, content, tool_calls: calls } = value as { type?: unknown; content?: unknown; tool_calls?: unknown };
  if (typeof type !== 'string' || content === undefined || !('id' in value)) return undefined;
  const called = Array.isArray(calls) ? calls.slice(0, KEYS_MAX).map((call) => describeCall(call, depth)) : [];
  const said = content === '' || (Array.isArray(content) && content.length === 0) ? [] : [describe(content, depth + 1)];
  return [type, ...said, ...(called.length > 0 ? [`calls ${called.join(', ')}`] : [])].join(' ');
}

function describeCall(call: unknown, depth: number): string {
  const { name, args } = (call ?? {}) as { name?: unknown; args?: unknown };
  return `${typeof name === 'string' ? name : '?'}(${args === undefined ? '' : describe(args, depth + 1)})`;
}
