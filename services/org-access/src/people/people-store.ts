import { v7 as uuidv7 } from 'uuid';
import type { Queries } from '../database/database.ts';
import type { Person, Prisma } from '../generated/client.ts';
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
};
