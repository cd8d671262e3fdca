import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';

/** Real states are not as deep, and the stack allows more. A circular value is deeper than any limit. */
const MAX_DEPTH = 400;

/**
 * Texts that stand in JSON where LangGraph's serializer reads something else than plain data: `lc` marks what it wrote
 * in place of an object, and `__proto__` would become a prototype.
 */
const NOT_PLAIN = ['"lc"', '"__proto__"'];

/**
 * Wraps LangGraph's own serializer, and writes and reads plain JSON data in its place: with the same bytes and the same
 * values, at the speed of `JSON`. LangGraph's reading makes a promise for each value, and its writing calls a function
 * for each, twice, so that a state of megabytes would block the process for seconds.
 */
export function withPlainJson(serde: SerializerProtocol): SerializerProtocol {
  return {
    async dumpsTyped(value) {
      if (!isPlain(value, 0)) return serde.dumpsTyped(value);
      return ['json', new TextEncoder().encode(JSON.stringify(value))];
    },
    async loadsTyped(type, data) {
      if (type !== 'json') return serde.loadsTyped(type, data);
      const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
      if (NOT_PLAIN.some((part) => text.includes(part))) return serde.loadsTyped(type, text);
      return JSON.parse(text);
    },
  };
}

/** Returns whether the value is what `JSON.parse` could return. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== 'object')
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isPlain(value[index], depth + 1)) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key in value) {
    // The serializer recognizes a `Send` by this key, whatever has it.
    if (key === 'lg_name' || !isPlain((value as Record<string, unknown>)[key], depth + 1)) return false;
  }
  return true;
}
