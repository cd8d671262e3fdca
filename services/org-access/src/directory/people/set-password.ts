import { InvalidFieldError } from '@runyard/service-kit';
import { endSessions } from '../../access/credentials/end-sessions.ts';
import { lockPeople } from '../../access/credentials/lock-people.ts';
import type { Prisma } from '../../generated/client.ts';
import { hashPassword } from './password-hash.ts';
import { passwordFault } from './password-rules.ts';

/**
 * Returns the hash of a new password. Call it before the transaction: it takes its time.
 *
 * @param place of the password in the request, for the error
 * @throws InvalidFieldError when the password is too short, too long or easy to guess
 */
export function hashNewPassword(
  password: string,
  email: string,
  place: (string | number)[] = ['body', 'password'],
): Promise<string> {
  const fault = passwordFault(password, email);
  if (fault !== undefined) throw new InvalidFieldError(place, fault, { code: 'password_refused' });
  return hashPassword(password);
}

/** Gives a person a password. Ends all sessions but one, and the tokens with which another password or a passkey
 * could be set. */
export async function setPassword(
  transaction: Prisma.TransactionClient,
  { personId, hash, keptSessionId }: { personId: string; hash: string; keptSessionId?: string | undefined },
): Promise<void> {
  await setPasswords(transaction, [{ personId, hash }], { keptSessionId });
}

/** Like `setPassword`, for many people: the number of statements does not depend on theirs. */
export async function setPasswords(
  transaction: Prisma.TransactionClient,
  passwords: readonly { personId: string; hash: string }[],
  { keptSessionId }: { keptSessionId?: string | undefined } = {},
): Promise<void> {
  const personIds = passwords.map(({ personId }) => personId);
  await lockPeople(transaction, personIds);
  const changedAt = new Date();
  await transaction.$executeRaw`
    INSERT INTO password_credential (person_id, hash, changed_at)
    SELECT person_id, hash, ${changedAt}::timestamptz
    FROM unnest(${personIds}::uuid[], ${passwords.map(({ hash }) => hash)}::text[]) AS given (person_id, hash)
    ON CONFLICT (person_id) DO UPDATE SET hash = excluded.hash, changed_at = excluded.changed_at`;
  const personId = { in: personIds };
  await transaction.oneTimeToken.updateMany({
    where: { personId, purpose: { in: ['reset_password', 'second_factor', 'passkey'] }, usedAt: null },
    data: { usedAt: changedAt },
  });
  const others = keptSessionId === undefined ? {} : { id: { not: keptSessionId } };
  await endSessions(transaction, { personId, ...others }, 'credentials_changed');
}
