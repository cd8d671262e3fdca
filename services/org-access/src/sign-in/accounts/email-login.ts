import { v7 as uuidv7 } from 'uuid';
import type { Login, Person, Prisma } from '../../generated/client.ts';

type Owner = Pick<Person, 'id' | 'email'>;

/** Returns the login of a person with email and password, and creates it at the first call. */
export async function ensureEmailLogin(transaction: Prisma.TransactionClient, person: Owner): Promise<Login> {
  await ensureEmailLogins(transaction, [person], 'manual');
  return transaction.login.findFirstOrThrow({ where: { ssoProviderId: null, subject: person.email } });
}

/** Creates the logins of people with email and password, as far as they have none. */
export async function ensureEmailLogins(
  transaction: Prisma.TransactionClient,
  people: readonly Owner[],
  provisioning: 'manual' | 'invite' | 'bootstrap',
): Promise<void> {
  await transaction.$executeRaw`
    INSERT INTO login (id, person_id, provider, issuer, subject, email, provisioning)
    SELECT id, person_id, 'email', '', email, email, ${provisioning}::text
    FROM unnest(${people.map(() => uuidv7())}::uuid[], ${people.map(({ id }) => id)}::uuid[],
      ${people.map(({ email }) => email)}::text[]) AS added (id, person_id, email)
    ON CONFLICT (subject) WHERE sso_provider_id IS NULL DO NOTHING`;
}
