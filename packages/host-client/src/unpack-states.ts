import { type StateDocument, ValueReader, type ValueRef } from '@runyard/host-protocol';
import { JsonText } from '@runyard/service-kit';
import type { ThreadStateJson } from './types.ts';

/** Returns the states of an answer. What may be large in them stays text. */
export function unpackStates(documents: StateDocument[], raw: Buffer): ThreadStateJson[] {
  const texts = new ValueReader(raw);
  const take = (ref: ValueRef) => new JsonText(texts.take(ref).data);
  return documents.map(({ state, values, writes }) => {
    const rest = take(state).parse() as ThreadStateJson;
    return {
      ...rest,
      values: take(values),
      ...(writes && { metadata: { ...(rest.metadata as Record<string, unknown>), writes: take(writes) } }),
    };
  });
}
