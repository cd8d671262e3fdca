import { isDeepStrictEqual } from 'node:util';
import type { DataCipher } from '@runyard/encryption';

interface AheadOptions<Plain, Stored> {
  cipher: DataCipher;
  /** Returns what the transaction will write, if nothing changes meanwhile. */
  plain(): Promise<Plain | undefined>;
  encrypt(plain: Plain): Promise<Stored>;
}

/**
 * Encrypts what a transaction will probably write, before it begins: it would hold its locks while handlers of the
 * project are asked. Returns the function that encrypts inside of it, which has to ask only when others have changed the
 * row meanwhile. Without handlers nothing is done ahead. @throws EncryptionUnavailableError
 */
export async function encryptAhead<Plain, Stored>({
  cipher,
  plain,
  encrypt,
}: AheadOptions<Plain, Stored>): Promise<(content: Plain) => Promise<Stored>> {
  const expected = cipher.json.hasHandlers ? await plain() : undefined;
  if (expected === undefined) return encrypt;
  const stored = await encrypt(expected);
  return async (content) => (isDeepStrictEqual(content, expected) ? stored : encrypt(content));
}
