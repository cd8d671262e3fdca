import { v7 as uuidv7 } from 'uuid';
import type { Queries } from '../../database/database.ts';
import type { Person, Prisma } from '../../generated/client.ts';
import { normalizeEmail } from './normalize-email.ts';

export const peopleStore = {
  find(queries: Queries, id: string): Promise<Person | null> {
    return queries.person.findUnique({ where: { id } });
  },

  findByEmail(queries: Queries, email: string): Promise<Person | null> {
    return queries.person.findUnique({ where: { email: normalizeEmail(email) } });
  },

  /** Returns the person with this address. Of several callers at once one creates the row, and the others wait for it. */
  async findOrCreate(
    transaction: Prisma.TransactionClient,
    person: { email: string; fullName?: string | null; isEmailVerified?: boolean },
  ): Promise<Person> {
    const email = normalizeEmail(person.email);
    const verifiedAt = person.isEmailVerified ? new Date() : null;
    await transaction.$executeRaw`
      INSERT INTO person (id, email, full_name, email_verified_at)
      VALUES (${uuidv7()}::uuid, ${email}, ${person.fullName ?? null}, ${verifiedAt})
      ON CONFLICT (email) DO NOTHING`;
    return transaction.person.findUniqueOrThrow({ where: { email } });
  },

  /** Returns the people with these addresses, in the given order, and creates those who are missing. */
  async findOrCreateAll(
    transaction: Prisma.TransactionClient,
    people: readonly { email: string; fullName: string | null }[],
  ): Promise<Person[]> {
    const emails = people.map(({ email }) => normalizeEmail(email));
    // In one order, so that requests with the same people wait for each other rather than crosswise.
    await transaction.$executeRaw`
      INSERT INTO person (id, email, full_name)
      SELECT * FROM unnest(${people.map(() => uuidv7())}::uuid[], ${emails}::text[],
        ${people.map(({ fullName }) => fullName)}::text[]) AS added (id, email, full_name)
      ORDER BY email
      ON CONFLICT (email) DO NOTHING`;
    const found = await transaction.person.findMany({ where: { email: { in: emails } } });
    const byEmail = new Map(found.map((person) => [person.email, person]));
    return emails.map((email) => byEmail.get(email)!);
  },
};
