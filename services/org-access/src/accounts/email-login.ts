import { v7 as uuidv7 } from 'uuid';
import type { Login, Person, Prisma } from '../generated/client.ts';

/** Returns the login of a person with email and password, and creates it at the first call. */
export async function ensureEmailLogin(
  transaction: Prisma.TransactionClient,
  { id: personId, email }: Pick<Person, 'id' | 'email'>,
  provisioning: 'manual' | 'invite' | 'bootstrap' = 'manual',
): Promise<Login> {
  await transaction.$executeRaw`
    INSERT INTO login (id, person_id, provider, issuer, subject, email, provisioning)
    VALUES (${uuidv7()}::uuid, ${personId}::uuid, 'email', '', ${email}, ${email}, ${provisioning})
    ON CONFLICT (subject) WHERE sso_provider_id IS NULL DO NOTHING`;
  return transaction.login.findFirstOrThrow({ where: { ssoProviderId: null, subject: email } });
}
