/** Provides the logger that `getLogger()` of `@langchain/langgraph-sdk/logging` returns to the project's code. */
import { format } from 'node:util';
import { type HostLog, truncate } from '@runyard/host-protocol/graph-process';

type LogMethod = (message: unknown, ...more: unknown[]) => SdkLogger;

/** The log level of each of its methods. */
const LEVELS = {
  error: 'error',
  warn: 'warn',
  help: 'info',
  data: 'info',
  info: 'info',
  prompt: 'info',
  input: 'info',
  http: 'debug',
  verbose: 'debug',
  debug: 'debug',
  silly: 'debug',
} as const satisfies Record<string, HostLog['level']>;

type SdkLogger = Record<keyof typeof LEVELS, LogMethod>;
type Fields = NonNullable<HostLog['data']>;

const LOGGER_KEY = Symbol.for('langgraph.api.sdk-logger');
/** Characters of the fields of a line. Longer fields are dropped, and the line keeps only its message. */
const FIELDS_MAX_LENGTH = 16 * 1024;

/** Registers the logger, before graphs are loaded: modules ask for it at their top level. */
export function registerSdkLogger(print: (line: HostLog) => void): void {
  const logger = {} as SdkLogger;
  for (const [name, level] of Object.entries(LEVELS)) {
    logger[name as keyof SdkLogger] = (message, ...more) => {
      const line = lineOf(message, more);
      const data = toJsonFields({ ...currentNode(), ...line.fields });
      print({ level, message: truncate(line.message), ...(data && { data }) });
      return logger;
    };
  }
  (globalThis as Record<symbol, unknown>)[LOGGER_KEY] = logger;
}

/** Objects after the message are fields of the line; an object in its place contains the message. */
function lineOf(message: unknown, more: unknown[]): { message: string; fields: Fields } {
  const fields: Fields = {};
  const words: unknown[] = [];
  for (const part of [message, ...more]) {
    if (part instanceof Error) {
      fields.error = { name: part.name, message: part.message, stack: part.stack };
      words.push(part.message);
    } else if (typeof part === 'object' && part !== null && !Array.isArray(part)) {
      const { message: text, ...rest } = part as Fields;
      Object.assign(fields, rest);
      if (text !== undefined) words.push(text);
    } else {
      words.push(part);
    }
  }
  return { message: format(...words), fields };
}

/** Returns undefined for fields that have no JSON form or a too long one: a log line must not end a run. */
function toJsonFields(fields: Fields): Fields | undefined {
  if (Object.keys(fields).length === 0) return undefined;
  try {
    const json = JSON.stringify(fields);
    return json.length > FIELDS_MAX_LENGTH ? { left_out: 'too much' } : (JSON.parse(json) as Fields);
  } catch {
    return { left_out: 'no JSON' };
  }
}

/** Reads the current node from the global place where LangChain stores the config of the node whose code runs. */
function currentNode(): Fields {
  const shared = globalThis as unknown as Record<symbol, { getStore(): unknown } | undefined>;
  const tree = shared[Symbol.for('ls:tracing_async_local_storage')]?.getStore() as RunTree | undefined;
  const node = tree?.extra?.[Symbol.for('lc:child_config')]?.metadata?.langgraph_node;
  return typeof node === 'string' ? { langgraph_node: node } : {};
}

interface RunTree {
  extra?: Record<symbol, { metadata?: Record<string, unknown> } | undefined>;
}
