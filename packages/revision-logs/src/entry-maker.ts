import type { LogLevel } from '@runyard/contracts';
import { EntryIds, timeOfId } from './entry-ids.ts';
import { type LineContent, parseLine, type StoredEntry } from './log-entry.ts';
import { secretMask } from './secret-mask.ts';

export interface WriteOptions {
  /** Level of lines that do not have one. Default `INFO`. */
  level?: LogLevel;
  /** The process that printed the line: `agent-api`, `build`. */
  source: string;
  /** Other sources of its lines, by the service that these name. */
  sources?: Record<string, string> | undefined;
}

const MESSAGE_LIMIT = 16_384;
const FIELDS_LIMIT = 65_536;
const RECENT_MAX = 40;

/** Makes the entries of one log of its lines, masks secrets in them, and remembers the newest. */
export class EntryMaker {
  readonly #ids: EntryIds;
  readonly #mask: (text: string) => string;
  readonly #recent: StoredEntry[] = [];

  /** @param options.ids shared by logs whose entries have an order; default: ids of its own */
  constructor({ secrets, ids = new EntryIds() }: { secrets: Iterable<string>; ids?: EntryIds }) {
    this.#ids = ids;
    this.#mask = secretMask(secrets);
  }

  /** Makes an entry of a line, given without its line feed. */
  make(line: string, { level = 'INFO', source, sources }: WriteOptions): StoredEntry {
    const { service, ...content } = parseLine(line, level);
    const named = sources && Object.hasOwn(sources, service ?? '') ? sources[service!] : undefined;
    return this.#remember(maskContent(content, this.#mask), named ?? source);
  }

  /** Returns the newest entries, the oldest first; at most `RECENT_MAX`. */
  recent(count: number): StoredEntry[] {
    return this.#recent.slice(-count);
  }

  #remember(content: LineContent, source: string): StoredEntry {
    const id = this.#ids.next();
    const entry = { id, timestamp: new Date(timeOfId(id)).toISOString(), source, ...content };
    this.#recent.push(entry);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    return entry;
  }
}

/** Masks before it cuts, so that no half of a value is left at the cut. */
function maskContent(content: LineContent, mask: (text: string) => string): LineContent {
  const { level, fields, message: text, ...run } = content;
  const message = truncate(mask(text));
  const rest = { level, message, ...(maskDeep(run, mask) as typeof run) };
  if (fields === undefined) return rest;
  const maskedFields = maskDeep(fields, mask) as Record<string, unknown>;
  const isTooMuch = JSON.stringify(maskedFields).length > FIELDS_LIMIT;
  return { ...rest, fields: isTooMuch ? { left_out: 'too much' } : maskedFields };
}

function maskDeep(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, mask));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskDeep(item, mask)]));
}

function truncate(text: string): string {
  return text.length > MESSAGE_LIMIT ? `${text.slice(0, MESSAGE_LIMIT)}…` : text;
}
