import type { RunFilters as SearchFilters } from '@runyard/contracts';
import { isUuid } from '../../platform/uuid.ts';

export const STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'] as const;
type RunStatus = (typeof STATUSES)[number];

/** How long ago runs were created at most. */
const RANGES = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
export type Range = keyof typeof RANGES;

/** The filters of the runs that are shown, as the address of the page has them. Commas separate the values of a list. */
export interface RunFilters {
  status?: string;
  deployment?: string;
  graph?: string;
  assistant?: string;
  thread?: string;
  /** Words of the error. */
  error?: string;
  /** `key=value`, several of them with `&`. */
  metadata?: string;
  range?: Range;
  /** A range of one's own, in place of `range`. */
  from?: string;
  to?: string;
  /** Milliseconds that they took at least. */
  slow?: number;
  /** Tokens that they have used at least. */
  tokens?: number;
  /** Their maker: an identity of the platform, or a user as the project calls them. */
  creator?: string;
  /** The key by which they were made. */
  key?: string;
}

/** Reads the filters of an address. What is none is left out. */
export function readRunFilters(search: Record<string, unknown>): RunFilters {
  const filters: RunFilters = {};
  for (const name of ['graph', 'error', 'metadata', 'creator', 'key'] as const) {
    const value = textOf(search[name]);
    if (value !== undefined) filters[name] = value;
  }
  for (const name of ['deployment', 'assistant', 'thread'] as const) {
    const ids = listOf(textOf(search[name])).filter((id) => isUuid(id));
    if (ids.length > 0) filters[name] = ids.join(',');
  }
  const statuses = listOf(textOf(search.status)).filter((status) => (STATUSES as readonly string[]).includes(status));
  if (statuses.length > 0) filters.status = statuses.join(',');
  const range = textOf(search.range);
  if (range !== undefined && Object.hasOwn(RANGES, range)) filters.range = range as Range;
  for (const name of ['from', 'to'] as const) {
    const moment = new Date(textOf(search[name]) ?? Number.NaN);
    if (!Number.isNaN(moment.getTime())) filters[name] = moment.toISOString();
  }
  const slow = Number(textOf(search.slow));
  if (Number.isInteger(slow) && slow > 0 && slow < 2 ** 31) filters.slow = slow;
  const tokens = Number(textOf(search.tokens));
  if (Number.isSafeInteger(tokens) && tokens > 0) filters.tokens = tokens;
  return filters;
}

/** The filters of a search, and in place of its begin the time before now that it reaches back. */
export interface RunSelection {
  filters: SearchFilters;
  withinMs: number | undefined;
}

/** Returns what the platform is asked for. */
export function selectionOf(filters: RunFilters): RunSelection {
  const { status, deployment, graph, assistant, thread, error, metadata, range, from, to, slow, tokens, creator, key } =
    filters;
  const isOwnRange = from !== undefined || to !== undefined;
  return {
    filters: {
      ...(status && { statuses: listOf(status) as RunStatus[] }),
      ...(deployment && { deployment_ids: listOf(deployment) }),
      ...(graph && { graph_ids: listOf(graph) }),
      ...(assistant && { assistant_ids: listOf(assistant) }),
      ...(thread && { thread_ids: listOf(thread) }),
      ...(error && { error }),
      ...(metadata && { metadata: metadataOf(metadata) }),
      ...(from && { created_after: from }),
      ...(to && { created_before: to }),
      ...(slow && { min_duration_ms: slow }),
      ...(tokens && { min_total_tokens: tokens }),
      ...(creator && { creators: [creator] }),
      ...(key && { key_ids: [key] }),
    },
    withinMs: range && !isOwnRange ? RANGES[range] : undefined,
  };
}

/** Returns the filters with one value of a list added, or taken away where it was there. */
export function toggleValue(
  filters: RunFilters,
  name: 'status' | 'deployment' | 'graph' | 'assistant',
  value: string,
): RunFilters {
  const values = listOf(filters[name]);
  const next = values.includes(value) ? values.filter((each) => each !== value) : [...values, value];
  return { ...filters, [name]: next.length > 0 ? next.join(',') : undefined };
}

export function listOf(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(',').filter((each) => each !== '');
}

/** Values of an address are read as JSON where they can be: an error `404` comes as a number. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** A value is JSON where it can be, `3` a number, and `"3"` a text. */
function metadataOf(text: string): Record<string, unknown> {
  const pairs = text.split('&').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), jsonOrText(pair.slice(at + 1).trim())];
    }),
  );
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
