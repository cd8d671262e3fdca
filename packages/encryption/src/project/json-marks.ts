/**
 * Values that `encrypt.json` of a project has encrypted. Each stands alone, as text in the place of what it was: SQL
 * merges JSON key by key, so that one object may have values of several contexts.
 */
import { decryptBytes, encryptBytes } from '../aes-gcm.ts';
import type { JsonPlace } from '../json-places.ts';
import { HEADER_BYTES, headerOf, isProjectEncrypted, keyIdOf } from './key-ids.ts';
import type { DataKey } from './types.ts';

const PREFIX = 'encrypted.json:';
/** Matches such values in JSON text, and as texts of their own. */
const IN_TEXT = /encrypted\.json:[A-Za-z0-9+/]+=*/g;

/** A value that a handler has encrypted, and its place. */
export interface HandledValue {
  place: JsonPlace;
  /** The key of the value. */
  name: string;
  /** The answer of the handler. */
  value: unknown;
}

/**
 * Returns the text to store. It is encrypted under the data key too, so that nobody can make one up for which handlers
 * would then be asked.
 */
export function markValue(key: DataKey, { place: { model, field }, name, value }: HandledValue): string {
  const content = Buffer.from(JSON.stringify([model, field, name, value]));
  return PREFIX + encryptBytes(key.bytes, content, headerOf(key.id)).toString('base64');
}

/** Returns the bytes of such a text; undefined for any other value. */
export function markedBytes(value: unknown): Buffer | undefined {
  if (typeof value !== 'string' || !value.startsWith(PREFIX)) return undefined;
  const bytes = Buffer.from(value.slice(PREFIX.length), 'base64');
  return isProjectEncrypted(bytes) ? bytes : undefined;
}

/** Returns the id of the data key under which such a text is encrypted. */
export function keyIdOfMark(text: string): string | undefined {
  const bytes = markedBytes(text);
  return bytes && keyIdOf(bytes);
}

/** @throws EncryptionError when it was changed, or is encrypted under another key */
export function readMark(key: DataKey, text: string): HandledValue {
  const content = decryptBytes(key.bytes, markedBytes(text) ?? Buffer.alloc(0), HEADER_BYTES);
  const [model, field, name, value] = JSON.parse(content.toString('utf8')) as [string, string, string, unknown];
  return { place: { model, field }, name, value };
}

/** Returns all such texts in a row, in JSON and in JSON text. */
export function findMarks(row: unknown): Set<string> {
  const found = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value === 'string') {
      if (value.includes(PREFIX)) for (const [text] of value.matchAll(IN_TEXT)) found.add(text);
    } else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
      for (const inner of Object.values(value)) look(inner);
    }
  };
  look(row);
  return found;
}
