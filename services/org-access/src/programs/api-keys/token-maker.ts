import { type Principal, UnauthorizedError } from '@runyard/service-kit';
import type { Prisma } from '../../generated/client.ts';
import type { LiveSessions } from '../../sign-in/sessions/live-sessions.ts';

/** A credential that makes a personal access token, which ends with it. */
export interface TokenMaker {
  /** The id of a key, or of a program's session. */
  id: string;
  expiresAt: Date | null;
}

/**
 * Finds what the caller's new token ends with, and keeps it and the caller from ending before the token is there: whoever
 * ends them then ends the token too. The session of a browser is none: its person sees the token, and revokes it.
 *
 * @throws UnauthorizedError when the credential has ended
 */
export async function lockTokenMaker(
  transaction: Prisma.TransactionClient,
  sessions: LiveSessions,
  { organizationId, identity, keyId, sessionId }: Principal,
): Promise<TokenMaker | null> {
  // The identity comes first, as where it is disabled or an account's key is revoked.
  const [isActive] = await transaction.$queryRaw<unknown[]>`
    SELECT 1 FROM identity WHERE organization_id = ${organizationId}::uuid AND id = ${identity}::uuid
      AND disabled_at IS NULL AND NOT is_removed FOR SHARE`;
  if (!isActive) throw keyInvalid();
  if (keyId) {
    const [key] = await transaction.$queryRaw<{ expiresAt: Date | null }[]>`
      SELECT expires_at AS "expiresAt" FROM api_key
      WHERE organization_id = ${organizationId}::uuid AND id = ${keyId}::uuid AND revoked_at IS NULL FOR SHARE`;
    if (!key) throw keyInvalid();
    return { id: keyId, expiresAt: key.expiresAt };
  }
  if (!sessionId) return null;
  await transaction.$queryRaw`SELECT 1 FROM session WHERE id = ${sessionId}::uuid FOR SHARE`;
  const { session, endsAt } = await sessions.findById(sessionId, transaction);
  return session.clientId === null ? null : { id: sessionId, expiresAt: endsAt };
}

function keyInvalid(): UnauthorizedError {
  return new UnauthorizedError('Invalid API key', { code: 'api_key_invalid' });
}
