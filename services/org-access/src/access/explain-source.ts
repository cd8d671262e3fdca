import type { AccessExplanation } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import type { AuditEvent, Identity } from '../generated/client.ts';
import { effectiveRoles, type Grant } from './effective-roles.ts';
import type { Place } from './explain-access.ts';
import { listGrants } from './role-grants.ts';

export interface ExplainedSource {
  source: NonNullable<AccessExplanation['source']>;
  decidedBy: AccessExplanation['decided_by'];
  /** The grant that would decide without this source; null: none would. */
  next: Grant | null;
}

/** Finds where a role comes from: the grant that decides, by the function that the roles follow from. */
export async function explainSource(
  queries: Queries,
  identity: Identity,
  place: Place,
  via: AccessExplanation['via'],
): Promise<ExplainedSource | null> {
  if (via === null) return null;
  const nameless = { id: null, name: null };
  if (identity.kind !== 'person') {
    const source = { ...nameless, kind: 'service_account', created_at: identity.createdAt.toISOString() };
    return { source, decidedBy: null, next: null };
  }
  const grants = (await listGrants(queries, identity.organizationId, [identity.id])).get(identity.id) ?? [];
  const workspaceId = via === 'membership' ? place.id : null;
  const deciding = (among: readonly Grant[]) => {
    const { organization, workspaces } = effectiveRoles(among);
    return (workspaceId === null ? organization : workspaces.get(workspaceId)) ?? null;
  };
  const grant = deciding(grants);
  if (!grant) return { source: { ...nameless, kind: 'default', created_at: null }, decidedBy: null, next: null };
  const source = {
    kind: grant.source,
    id: grant.sourceId,
    name: await nameOf(queries, identity.organizationId, grant),
    created_at: grant.sourceCreatedAt.toISOString(),
  };
  const decidedBy = await findDecision(queries, identity, grant);
  return { source, decidedBy, next: deciding(grants.filter((each) => each !== grant)) };
}

async function nameOf(queries: Queries, organizationId: string, { source, sourceId }: Grant): Promise<string | null> {
  if (sourceId === null) return null;
  const where = { organizationId, id: sourceId };
  if (source === 'scim_group') return (await queries.scimGroup.findFirst({ where }))?.displayName ?? null;
  if (source === 'invite') return (await queries.invite.findFirst({ where }))?.email ?? null;
  return (await queries.ssoProvider.findFirst({ where }))?.displayName ?? null;
}

/** Sources whose roles a sign-in gives. */
const OF_SIGN_IN = ['invite', 'sso_group', 'jit'];

/**
 * Finds the event that gave the person this source: for what a sign-in gives, the sign-in that provisioned the person;
 * otherwise the last change of the person that is recorded.
 */
async function findDecision(
  queries: Queries,
  { organizationId, id, personId }: Identity,
  { source }: Grant,
): Promise<AccessExplanation['decided_by']> {
  const isOfSignIn = OF_SIGN_IN.includes(source);
  const signIns = { resourceType: 'person', resourceId: personId, action: 'sign_in.allowed' };
  const event =
    (isOfSignIn &&
      (await queries.auditEvent.findFirst({
        where: { organizationId, ...signIns, NOT: { details: { path: ['outcome'], equals: 'signed_in' } } },
        orderBy: { sequence: 'desc' },
      }))) ||
    (await queries.auditEvent.findFirst({
      where: { organizationId, resourceId: id, action: { startsWith: 'member.' } },
      orderBy: { sequence: 'desc' },
    }));
  return event ? render(event) : null;
}

function render({ id, action, occurredAt, details }: AuditEvent): NonNullable<AccessExplanation['decided_by']> {
  return {
    event_id: id,
    action,
    occurred_at: occurredAt.toISOString(),
    details: details as Record<string, unknown> | null,
  };
}
