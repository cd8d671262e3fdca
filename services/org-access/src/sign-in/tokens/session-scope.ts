import { isUuid, type VerifyKeyRequest } from '@runyard/contracts';
import { ForbiddenError, UnauthorizedError } from '@runyard/service-kit';
import { identitiesInReach } from '../../access/credentials/reach.ts';
import type { PrismaClient, Session } from '../../generated/client.ts';

/** The identity as which a session acts. */
export interface SessionIdentity {
  organizationId: string;
  identityId: string;
}

interface Candidate extends SessionIdentity {
  /** True when the organization is only for sessions of its own identity providers, and this is another. */
  requiresSso: boolean;
  /** True when the person took the membership up, by an invite or by entering the organization. */
  isAccepted: boolean;
}

/**
 * Chooses the identity as which a session acts: in the organization that the request names, else in that of the
 * workspace it names, else in the one chosen last, else in the only one, to which memberships that the person never took
 * up do not count. Null when none of these is there.
 *
 * @throws ForbiddenError when the request names an organization or a workspace where the session may not act
 * @throws UnauthorizedError when the organization of a session of its identity provider has no such member any more
 */
export async function chooseIdentity(
  prisma: PrismaClient,
  session: Session,
  request: Pick<VerifyKeyRequest, 'organization_id' | 'workspace_id'>,
): Promise<SessionIdentity | null> {
  const candidates = await findCandidates(prisma, session);
  if (session.ssoOrganizationId && candidates.length === 0)
    throw new UnauthorizedError('The session has ended: sign in again', { code: 'session_ended' });
  const requested = await requestedOrganization(prisma, request);
  if (requested) {
    const found = candidates.find(({ organizationId }) => organizationId === requested.id);
    if (!found) throw requested.refusal;
    if (found.requiresSso)
      throw new ForbiddenError('This organization requires single sign-on: sign in through its identity provider', {
        code: 'sso_required',
      });
    return found;
  }
  const usable = candidates.filter(({ requiresSso }) => !requiresSso);
  const chosen = usable.find(({ organizationId }) => organizationId === session.organizationId);
  if (chosen) return chosen;
  const accepted = usable.filter(({ isAccepted }) => isAccepted);
  return onlyOf(accepted) ?? (accepted.length === 0 ? onlyOf(usable) : null);
}

async function findCandidates(prisma: PrismaClient, session: Session): Promise<Candidate[]> {
  const identities = await prisma.identity.findMany({
    where: { AND: [identitiesInReach(session), { disabledAt: null }] },
    select: { id: true, organizationId: true, isAccepted: true, organization: { select: { ssoOnly: true } } },
  });
  return identities.map(({ id, organizationId, isAccepted, organization }) => ({
    identityId: id,
    organizationId,
    requiresSso: organization.ssoOnly && session.ssoOrganizationId !== organizationId,
    isAccepted: isAccepted ?? false,
  }));
}

function onlyOf<T>(list: readonly T[]): T | null {
  return list.length === 1 ? list[0]! : null;
}

/** Returns the organization that a request names, and the refusal where the session may not act in it. */
async function requestedOrganization(
  prisma: PrismaClient,
  {
    organization_id: organizationId,
    workspace_id: workspaceId,
  }: Pick<VerifyKeyRequest, 'organization_id' | 'workspace_id'>,
): Promise<{ id: string | null; refusal: ForbiddenError } | undefined> {
  if (organizationId !== undefined) {
    const refusal = new ForbiddenError(`You do not have access to organization ${organizationId.slice(0, 64)}`, {
      code: 'organization_out_of_reach',
    });
    return { id: organizationId.toLowerCase(), refusal };
  }
  if (workspaceId === undefined) return undefined;
  const refusal = workspaceOutOfReach(workspaceId);
  const workspace = isUuid(workspaceId)
    ? await prisma.workspace.findFirst({
        where: { id: workspaceId.toLowerCase() },
        select: { organizationId: true },
      })
    : null;
  return { id: workspace?.organizationId ?? null, refusal };
}

/** Answers alike for a workspace of others and one that does not exist. */
export function workspaceOutOfReach(workspaceId: string): ForbiddenError {
  return new ForbiddenError(`You do not have access to workspace ${workspaceId.slice(0, 64)}`, {
    code: 'workspace_out_of_reach',
  });
}
