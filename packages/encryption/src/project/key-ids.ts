import { OVERHEAD_BYTES } from '../aes-gcm.ts';

/**
 * First byte of values that are encrypted with a data key of the project; the id of the key follows. No JSON text and
 * no compressed value begins with it.
 */
const MARK = 0x02;
const KEY_ID_BYTES = 16;
/** Length of what precedes the ciphertext. */
export const HEADER_BYTES = 1 + KEY_ID_BYTES;

/**
 * Matches the beginning of an encrypted value inside text: as one of single keys in JSON, and as an entry of a stream.
 * Its 24 characters are the header, and a byte more.
 */
const IN_TEXT = /(?:encrypted\.(?:aes|json):|"encrypted":")([A-Za-z0-9+/]{24})/g;

/** Returns the header of values that are encrypted with this key. @param keyId hexadecimal */
export function headerOf(keyId: string): Buffer {
  return Buffer.concat([Buffer.of(MARK), Buffer.from(keyId, 'hex')]);
}

/** Returns the id of the data key of an encrypted value; undefined for others. */
export function keyIdOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== MARK || bytes.byteLength < HEADER_BYTES) return undefined;
  return Buffer.from(bytes.subarray(1, HEADER_BYTES)).toString('hex');
}

/** Returns whether bytes were encrypted with a data key of a project. */
export function isProjectEncrypted(bytes: Uint8Array): boolean {
  return bytes[0] === MARK && bytes.byteLength >= HEADER_BYTES + OVERHEAD_BYTES;
}

/** Returns the ids of the data keys of all encrypted values in rows, in JSON and in JSON text. */
export function findKeyIds(values: unknown): Set<string> {
  const found = new Set<string>();
  const add = (bytes: Uint8Array) => {
    const id = keyIdOf(bytes);
    if (id !== undefined) found.add(id);
  };
  const look = (value: unknown): void => {
    if (typeof value === 'string') {
      for (const [, text = ''] of value.matchAll(IN_TEXT)) add(Buffer.from(text, 'base64'));
    } else if (value instanceof Uint8Array) add(value);
    else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) look(inner);
  };
  look(values);
  return found;
}
