import { ConflictError } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';

/** @throws ConflictError when the account of one of the people has never proved its address */
export async function requireProvenAccounts(queries: Queries, people: readonly { id: string }[]): Promise<void> {
  const unproven = await queries.passwordCredential.findFirst({
    where: { personId: { in: people.map(({ id }) => id) }, person: { emailVerifiedAt: null } },
    orderBy: { person: { email: 'asc' } },
    select: { person: { select: { email: true } } },
  });
  if (!unproven) return;
  throw new ConflictError(`The account of ${unproven.person.email} has never verified its address: invite it instead`, {
    code: 'account_unproven',
  });
}
