/** Writes states as the JSON text of the wire. */
import { type StateDocument, ValueWriter } from '@runyard/host-protocol/graph-process';
import { toWireJson } from '../wire/wire-json.ts';

export interface StateText {
  document: StateDocument;
  parts: Uint8Array[];
  /** Bytes of the whole state as one JSON text. */
  bytes: number;
}

/** @throws UnserializableValueError */
export function toStateText({ values, metadata, ...rest }: Record<string, unknown>): StateText {
  const { writes, ...others } = metadata as Record<string, unknown>;
  const texts = new ValueWriter();
  let bytes = 0;
  const add = (value: unknown, key = '') => {
    const data = Buffer.from(toWireJson(value, 'state'));
    bytes += key.length + data.byteLength;
    return texts.add({ type: 'json', data });
  };
  const document = {
    state: add({ ...rest, metadata: others }),
    values: add(values, '"values":,'),
    ...(writes !== undefined && { writes: add(writes, '"writes":,') }),
  };
  return { document, parts: texts.parts, bytes };
}
