import type { DataCipher } from '@runyard/encryption';
import { UnprocessableError } from '@runyard/service-kit';

/**
 * Refuses a search by metadata that are encrypted: it could find nothing. @throws UnprocessableError that names the key
 */
export function requireSearchable({ json }: DataCipher, { metadata }: { metadata?: unknown }): void {
  const key = json.findEncryptedKey(metadata);
  if (key === undefined) return;
  throw new UnprocessableError(`metadata: "${key}" is encrypted at rest and cannot be searched by`);
}
