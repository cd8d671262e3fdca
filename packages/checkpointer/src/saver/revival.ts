import { randomUUID } from 'node:crypto';
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';

/**
 * Classes that stored values may become again, as paths of modules: `[["langchain_core", "messages"]]`. `true`:
 * everything that LangChain can load.
 */
export type RevivableModules = true | readonly (readonly string[])[];

/** Classes that only hold data. State is full of them, and creating one runs nothing but assignments. */
const HOLD_DATA: readonly (readonly string[])[] = [
  ['langchain_core', 'messages'],
  ['langchain_core', 'documents'],
  ['langchain_core', 'prompt_values'],
  ['langchain_core', 'outputs'],
  ['langchain_core', 'agents'],
];

const CONSTRUCTOR = '"lc":1';

/**
 * Wraps a serializer so that it creates objects of listed classes only; other constructor payloads stay the plain data
 * that was stored. Any client may put such a payload into state, and LangChain's loader would construct the named class
 * with its arguments. Payloads that cannot be loaded stay data too: otherwise they would make the whole state
 * unreadable.
 */
export function guardSerializer(serde: SerializerProtocol, modules: RevivableModules = []): SerializerProtocol {
  if (modules === true) return serde;
  const paths = [...HOLD_DATA, ...modules];
  const harmless = paths.map(
    (path) => `${CONSTRUCTOR},"type":"constructor","id":${JSON.stringify(path).slice(0, -1)},`,
  );
  const isListed = (id: unknown[]): boolean => paths.some((path) => path.every((part, index) => part === id[index]));
  return {
    dumpsTyped: (value) => serde.dumpsTyped(value),
    async loadsTyped(type, data) {
      if (type !== 'json') return serde.loadsTyped(type, data);
      const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
      // Nearly always every payload is of a listed class, written the way LangChain writes it: then nothing is parsed
      // twice.
      const payloads = occurrences(text, CONSTRUCTOR);
      const listed = payloads === 0 ? 0 : harmless.reduce((sum, form) => sum + occurrences(text, form), 0);
      try {
        if (payloads === listed) return await serde.loadsTyped(type, text);
        return await loadInert(serde, text, ({ type, id }) => type !== 'constructor' || !isListed(id));
      } catch {
        return loadInert(serde, text, () => true);
      }
    },
  };
}

/** Loads with the chosen payloads kept as data: they are disguised while the serializer reads them. */
async function loadInert(
  serde: SerializerProtocol,
  text: string,
  isInert: (payload: Payload) => boolean,
): Promise<unknown> {
  const mark = `inert ${randomUUID()}`;
  const marked = JSON.parse(text, (_key, value) =>
    isPayload(value) && isInert(value) ? { ...value, lc: mark } : value,
  );
  return unmark(await serde.loadsTyped('json', JSON.stringify(marked)), mark, new Set());
}

/** An object as LangChain writes it: of a class, a secret, or something that cannot be serialized. */
interface Payload {
  lc: 1;
  type: unknown;
  id: unknown[];
}

function isPayload(value: unknown): value is Payload {
  if (typeof value !== 'object' || value === null) return false;
  const { lc, id } = value as Record<string, unknown>;
  return lc === 1 && Array.isArray(id);
}

function unmark(value: unknown, mark: string, seen: Set<object>): unknown {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) return value;
  seen.add(value);
  const record = value as Record<string, unknown>;
  if (record.lc === mark) record.lc = 1;
  const inner = value instanceof Map || value instanceof Set ? [...value.entries()].flat() : Object.values(record);
  for (const each of inner) unmark(each, mark, seen);
  return value;
}

function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}
