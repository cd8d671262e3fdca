import type { DataCipher, JsonPlace } from '@runyard/encryption';
import { UnprocessableError } from '@runyard/service-kit';

/**
 * Refuses a search by metadata that are encrypted: it could find nothing. @throws UnprocessableError that names the key;
 * EncryptionUnavailableError
 */
export async function requireSearchable(
  { json }: DataCipher,
  { metadata }: { metadata?: unknown },
  place: JsonPlace,
): Promise<void> {
  const key = await json.findEncryptedKey(metadata, place);
  if (key === undefined) return;
  throw new UnprocessableError(`metadata: "${key}" is encrypted at rest and cannot be searched by`);
}
