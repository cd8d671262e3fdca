import { isUuid } from '@runyard/contracts';
import { type Fields, isFields } from '../http/fields.ts';

/** Returns the id of an assistant, of which a client has the id or the graph. @throws UnprocessableError */
export type AssistantNaming = (idOrGraph: string) => string;

/** Objects inside of a value that name things too. */
const NESTED: ReadonlySet<string> = new Set(['kwargs', 'payload']);

/**
 * Returns what a handler is shown of a request: everything has one name there, so that a handler that compares ids
 * cannot be passed by another spelling. An assistant has its id, also where the client names a graph, and UUIDs are in
 * lower case. Returns the same object when nothing is spelled otherwise.
 *
 * @throws UnprocessableError for an assistant that is neither an id nor a graph
 */
export function withCanonicalIds<Value extends Fields>(value: Value, assistantId: AssistantNaming): Value {
  let changed: Fields | undefined;
  for (const [name, given] of Object.entries(value)) {
    const canonical = canonicalOf(name, given, assistantId);
    if (canonical === given) continue;
    changed ??= { ...value };
    changed[name] = canonical;
  }
  return (changed ?? value) as Value;
}

function canonicalOf(name: string, given: unknown, assistantId: AssistantNaming): unknown {
  if (NESTED.has(name)) return isFields(given) ? withCanonicalIds(given, assistantId) : given;
  if (name === 'assistant_id') return typeof given === 'string' ? assistantId(given) : given;
  if (!/(^|_)ids?$/.test(name)) return given;
  if (!Array.isArray(given)) return inLowerCase(given);
  const ids = given.map(inLowerCase);
  return ids.some((id, index) => id !== given[index]) ? ids : given;
}

function inLowerCase(id: unknown): unknown {
  return isUuid(id) ? id.toLowerCase() : id;
}
