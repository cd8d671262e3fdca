import { identitiesInReach } from '../../access/credentials/reach.ts';
import type { Queries } from '../../database/database.ts';
import type { Session } from '../../generated/client.ts';

/**
 * Returns the organization in whose trail it stands what a person does in a session, or somebody tries with the account:
 * where the session acts, else where the person acted last, else the only one that they took up or have. Null when there is
 * none of these: then it is in the person's own trail. Other organizations learn nothing of it.
 *
 * @param session null when nobody is signed in
 */
export async function actingOrganization(
  queries: Queries,
  personId: string,
  session: Pick<Session, 'organizationId' | 'ssoOrganizationId'> | null,
): Promise<string | null> {
  if (session?.ssoOrganizationId) return session.ssoOrganizationId;
  const identities = await queries.identity.findMany({
    where: identitiesInReach({ personId, ssoOrganizationId: null }),
    select: { organizationId: true, isAccepted: true },
  });
  const accepted = identities.filter(({ isAccepted }) => isAccepted);
  const candidates = accepted.length > 0 ? accepted : identities;
  if (candidates.length < 2) return candidates[0]?.organizationId ?? null;
  const chosen = session?.organizationId ?? (await lastChosen(queries, personId));
  return identities.some(({ organizationId }) => organizationId === chosen) ? chosen : null;
}

async function lastChosen(queries: Queries, personId: string): Promise<string | null> {
  const last = await queries.session.findFirst({
    where: { personId, ssoOrganizationId: null, organizationId: { not: null } },
    orderBy: { createdAt: 'desc' },
    select: { organizationId: true },
  });
  return last?.organizationId ?? null;
}
