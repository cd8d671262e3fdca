import { isAesEncrypted, HEADER_BYTES as OF_VARIABLES } from './data-cipher.ts';
import { isProjectEncrypted, HEADER_BYTES as OF_PROJECTS } from './project/key-ids.ts';

/** Returns the first bytes of an encrypted value, which name its key; undefined for other values. */
export function keyHeaderOf(stored: Uint8Array): Buffer | undefined {
  if (isAesEncrypted(stored)) return Buffer.from(stored.subarray(0, OF_VARIABLES));
  if (isProjectEncrypted(stored)) return Buffer.from(stored.subarray(0, OF_PROJECTS));
  return undefined;
}

/** Returns the id of the key that a header names, in hexadecimal. */
export function keyIdOfHeader(header: Buffer): string {
  return header.toString('hex', 1);
}
