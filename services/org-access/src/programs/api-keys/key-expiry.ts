import { toSqlText } from '@runyard/database';
import { InvalidFieldError } from '@runyard/service-kit';
import type { KeyKind } from '../../access/credentials/key-format.ts';
import type { Queries } from '../../database/database.ts';

const DAY_MS = 86_400_000;
export const DEFAULT_DESCRIPTION = 'Default API key';

/** Reads the fields that every creation of a key has. @throws InvalidFieldError for an expiry in the past */
export function parseKeyFields(body: { description?: string | null; read_only?: boolean; expires_at?: string | null }) {
  return {
    description: toSqlText(body.description ?? DEFAULT_DESCRIPTION),
    readOnly: body.read_only ?? false,
    expiresAt: parseExpiry(body.expires_at, 'expires_at'),
  };
}

/** @throws InvalidFieldError for a time in the past */
export function parseExpiry(text: string | null | undefined, field: string): Date | null {
  const expiresAt = text ? new Date(text) : null;
  if (expiresAt && expiresAt.getTime() <= Date.now())
    throw new InvalidFieldError(['body', field], 'It is in the past.');
  return expiresAt;
}

/**
 * Checks the expiry that was asked for against the organization's maximum. A later one is refused, never shortened.
 *
 * @throws InvalidFieldError when it is missing or too late
 */
export async function requireExpiryInTime(
  queries: Queries,
  organizationId: string,
  key: { kind: KeyKind; expiresAt: Date | null },
): Promise<void> {
  const organization = await queries.organization.findUniqueOrThrow({
    where: { id: organizationId },
    select: { maxPatExpiryDays: true, maxServiceKeyExpiryDays: true },
  });
  const days = key.kind === 'personal_token' ? organization.maxPatExpiryDays : organization.maxServiceKeyExpiryDays;
  if (days === null) return;
  if (key.expiresAt && key.expiresAt.getTime() <= Date.now() + days * DAY_MS) return;
  throw new InvalidFieldError(['body', 'expires_at'], `Keys of this organization expire within ${days} days.`, {
    code: 'key_expiry_too_late',
  });
}
