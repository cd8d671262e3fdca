import {
  type AccessExplanation,
  ORGANIZATION_PERMISSION_MEANINGS,
  WORKSPACE_PERMISSION_MEANINGS,
} from '@runyard/contracts';
import { InvalidFieldError, NotFoundError, type Principal } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { ApiKey, Identity } from '../generated/client.ts';
import { type Access, accessOf } from './access.ts';
import { findChanges } from './explain-changes.ts';
import { type ExplainedPlace, explainPermission, renderDecision } from './explain-policies.ts';
import { explainSource } from './explain-source.ts';
import { roleNameOf } from './platform-roles.ts';
import { isReadPermission } from './read-only.ts';

export interface ExplainQuery {
  identity: string;
  permission: string;
  resource?: string | undefined;
  workspace_id?: string | undefined;
  api_key_id?: string | undefined;
}

/** The place whose role decides about a permission. */
export type Place = AccessExplanation['resource'];

/**
 * Explains a permission with the access and the policies that checks use (`accessOf`, `permissionsAfterPolicies`). Administrators ask about everybody, others about
 * themselves.
 *
 * @throws NotFoundError for what the caller may not see
 */
export async function explainAccess(
  queries: Queries,
  caller: Principal,
  query: ExplainQuery,
): Promise<AccessExplanation> {
  const { organizationId } = caller;
  const [identityId, permission] = [query.identity.toLowerCase(), query.permission];
  if (identityId !== caller.identity && caller.organizationRole !== 'admin') throw identityNotFound();
  const identity = await queries.identity.findUnique({
    where: { organizationId_id: { organizationId, id: identityId } },
  });
  if (!identity || identity.isRemoved) throw identityNotFound();
  const key = query.api_key_id ? await findKey(queries, identity, query.api_key_id.toLowerCase()) : null;
  const { place, resource } = await findPlace(queries, organizationId, query);

  // For a disabled identity it says what it would have otherwise.
  const workspaceId = place.type === 'workspace' ? place.id : null;
  const full = await accessOf(queries, { organizationId, identityId, workspaceId, includeDisabled: true });
  // Members see no workspaces that they do not reach.
  if (workspaceId && !full?.workspace && caller.organizationRole !== 'admin') throw resourceNotFound();
  const explained = await explainPermission(queries, full!, { organizationId, place, resource, permission });
  const isWithheldByKey = explained.isPermitted && key?.readOnly === true && !isReadPermission(permission);
  const permitted = explained.isPermitted && !isWithheldByKey;
  const { roleId, via } = roleOf(full!, place);
  const role = roleId ? await queries.role.findUniqueOrThrow({ where: { id: roleId } }) : null;
  const sourced = await explainSource(queries, identity, place, via);
  return {
    allowed: permitted && identity.disabledAt === null,
    permission,
    identity: {
      id: identity.id,
      kind: identity.kind,
      name: identity.name,
      person_id: identity.personId,
      disabled: identity.disabledAt !== null,
    },
    resource: place,
    role: role && { id: role.id, name: roleNameOf(role), display_name: role.displayName },
    via,
    source: sourced?.source ?? null,
    policy: renderDecision(explained.decision, { place, resource }),
    depends_on_tags: explained.dependsOnTags,
    decided_by: sourced?.decidedBy ?? null,
    changes: await findChanges(queries, {
      identity,
      isPermitted: permitted,
      isWithheldByKey,
      permission,
      place,
      explained,
      via,
      next: sourced?.next ?? null,
    }),
  };
}

function roleOf(access: Access, { type }: Place): { roleId: string | null; via: AccessExplanation['via'] } {
  if (type === 'organization') return { roleId: access.organizationRoleId, via: 'organization_role' };
  return { roleId: access.workspaceRole?.id ?? null, via: access.workspaceRole?.via ?? null };
}

/** Permissions of the organization are decided there, whichever resource is named. */
async function findPlace(
  queries: Queries,
  organizationId: string,
  query: Pick<ExplainQuery, 'permission' | 'resource' | 'workspace_id'>,
): Promise<ExplainedPlace> {
  const { permission } = query;
  const named = query.resource?.toLowerCase();
  const isOfWorkspace = Object.hasOwn(WORKSPACE_PERMISSION_MEANINGS, permission);
  if (!isOfWorkspace && !Object.hasOwn(ORGANIZATION_PERMISSION_MEANINGS, permission))
    throw new InvalidFieldError(['query', 'permission'], 'There is no such permission.');
  const organization = { place: { type: 'organization', id: organizationId }, resource: null } as const;
  const isOrganization = named === undefined || named === organizationId;
  if (isOrganization && isOfWorkspace)
    throw new InvalidFieldError(['query', 'resource'], 'This permission is one of workspaces: name one.');
  if (isOrganization) return organization;
  const found = await findInWorkspace(queries, organizationId, named, query.workspace_id?.toLowerCase());
  if (!found) throw resourceNotFound();
  return isOfWorkspace ? found : organization;
}

/** @param workspaceId of a deployment or a key that has no tags: here it is not known which workspace has it */
async function findInWorkspace(
  queries: Queries,
  organizationId: string,
  id: string,
  workspaceId: string | undefined,
): Promise<ExplainedPlace | undefined> {
  const isLive = (workspace: string) =>
    queries.workspace.findFirst({ where: { organizationId, id: workspace, deletedAt: null }, select: { id: true } });
  if (await isLive(id)) return { place: { type: 'workspace', id }, resource: null };
  const tagging = await queries.tagging.findFirst({
    where: { organizationId, resourceId: id, ...(workspaceId && { workspaceId }) },
  });
  const place = tagging?.workspaceId ?? workspaceId;
  if (!place || !(await isLive(place))) return undefined;
  const type =
    tagging?.resourceType ?? ((await isServiceKey(queries, organizationId, id)) ? 'service_key' : 'deployment');
  const isDecided = type === 'deployment' || type === 'service_key';
  return { place: { type: 'workspace', id: place }, resource: isDecided ? { type, id } : null };
}

async function isServiceKey(queries: Queries, organizationId: string, id: string): Promise<boolean> {
  const kind = 'service_key';
  return (await queries.apiKey.findFirst({ where: { organizationId, id, kind }, select: { id: true } })) !== null;
}

async function findKey(queries: Queries, identity: Identity, id: string): Promise<ApiKey> {
  const { organizationId, id: identityId } = identity;
  const key = await queries.apiKey.findFirst({ where: { organizationId, identityId, id, revokedAt: null } });
  if (!key) throw new NotFoundError('API key not found');
  return key;
}

const identityNotFound = () => new NotFoundError('Identity not found');
const resourceNotFound = () => new NotFoundError('Resource not found');
