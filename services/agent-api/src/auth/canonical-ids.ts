import { isUuid } from '@runyard/contracts';
import { type Fields, isFields } from '../http/fields.ts';

/** Returns the id of an assistant, of which a client has the id or the graph; undefined when it can be none. */
export type FindAssistantId = (idOrGraph: string) => string | undefined;

/** Objects inside of a value that name things too. */
const NESTED: ReadonlySet<string> = new Set(['kwargs', 'payload']);

/**
 * Returns what a handler is shown of a request: everything has one name there, so that a handler that compares ids
 * cannot be passed by another spelling. An assistant has its id, also where the client names a graph, and UUIDs are in
 * lower case. A name that can be no assistant stays: whoever may ask learns so from the operation. Returns the same
 * object when nothing is spelled otherwise.
 */
export function withCanonicalIds<Value extends Fields>(value: Value, findAssistantId: FindAssistantId): Value {
  let changed: Fields | undefined;
  for (const [name, given] of Object.entries(value)) {
    const canonical = canonicalOf(name, given, findAssistantId);
    if (canonical === given) continue;
    changed ??= { ...value };
    changed[name] = canonical;
  }
  return (changed ?? value) as Value;
}

function canonicalOf(name: string, given: unknown, findAssistantId: FindAssistantId): unknown {
  if (NESTED.has(name)) return isFields(given) ? withCanonicalIds(given, findAssistantId) : given;
  if (name === 'assistant_id') return typeof given === 'string' ? (findAssistantId(given) ?? given) : given;
  if (!/(^|_)ids?$/.test(name)) return given;
  if (!Array.isArray(given)) return inLowerCase(given);
  const ids = given.map(inLowerCase);
  return ids.some((id, index) => id !== given[index]) ? ids : given;
}

function inLowerCase(id: unknown): unknown {
  return isUuid(id) ? id.toLowerCase() : id;
}
