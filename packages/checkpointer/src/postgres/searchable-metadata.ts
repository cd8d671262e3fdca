import { toSqlJson } from '@runyard/database';
import type { CheckpointPut } from '../backend.ts';
import { metadataJsonOf } from '../metadata-json.ts';

const QUOTE = '"'.charCodeAt(0);
const CLOSING = '}'.charCodeAt(0);

/**
 * Returns the JSON text of the metadata that histories are searched by, as `jsonb` accepts it. What an update wrote is
 * part of it and may be large, so text that is as it has to be is neither parsed nor copied.
 *
 * @param added keys that win over those of the metadata
 */
export function searchableMetadata(put: CheckpointPut, added?: Record<string, unknown>): Uint8Array {
  const { data } = put.metadata;
  if (put.metadataJson || !isPlainText(data)) {
    return Buffer.from(toSqlJson({ ...metadataJsonOf(put), ...added }));
  }
  if (!added) return data;
  // `jsonb` keeps the last value of a key that occurs twice.
  return Buffer.concat([data.subarray(0, -1), Buffer.from(`,${toSqlJson(added).slice(1)}`)]);
}

/** Returns whether it is the compact text of an object with a key, and has no escapes that Postgres may refuse. */
function isPlainText(text: Uint8Array): boolean {
  const isObject = text[1] === QUOTE && text.at(-1) === CLOSING;
  return isObject && !Buffer.from(text.buffer, text.byteOffset, text.byteLength).includes('\\u');
}
