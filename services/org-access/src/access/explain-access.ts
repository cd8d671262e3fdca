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
import { explainSource } from './explain-source.ts';
import { restrictToReading } from './read-only.ts';

export interface ExplainQuery {
  identity: string;
  permission: string;
  resource?: string | undefined;
  api_key_id?: string | undefined;
}

/** The place whose role decides about a permission. */
export type Place = AccessExplanation['resource'];

/**
 * Explains a permission with the access that checks use (`accessOf`). Administrators ask about everybody, others about
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
  const place = await findPlace(queries, organizationId, permission, query.resource?.toLowerCase());

  // For a disabled identity it says what it would have otherwise.
  const workspaceId = place.type === 'workspace' ? place.id : null;
  const full = await accessOf(queries, { organizationId, identityId, workspaceId, includeDisabled: true });
  const access = key?.readOnly ? restrictToReading(full!) : full!;
  const permitted = isPermitted(access, place, permission);
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
    role: role && { id: role.id, name: role.name, display_name: role.displayName },
    via,
    source: sourced?.source ?? null,
    decided_by: sourced?.decidedBy ?? null,
    changes: await findChanges(queries, {
      identity,
      isPermitted: permitted,
      isWithheldByKey: !permitted && isPermitted(full!, place, permission),
      permission,
      place,
      via,
      next: sourced?.next ?? null,
    }),
  };
}

function isPermitted(access: Access, { type }: Place, permission: string): boolean {
  return (type === 'organization' ? access.organization : (access.workspace ?? [])).includes(permission);
}

function roleOf(access: Access, { type }: Place): { roleId: string | null; via: AccessExplanation['via'] } {
  if (type === 'organization') return { roleId: access.organizationRoleId, via: 'organization_role' };
  return { roleId: access.workspaceRole?.id ?? null, via: access.workspaceRole?.via ?? null };
}

/** Permissions of the organization are decided there, whichever resource is named. */
async function findPlace(
  queries: Queries,
  organizationId: string,
  permission: string,
  resource: string | undefined,
): Promise<Place> {
  const isOfWorkspace = Object.hasOwn(WORKSPACE_PERMISSION_MEANINGS, permission);
  if (!isOfWorkspace && !Object.hasOwn(ORGANIZATION_PERMISSION_MEANINGS, permission))
    throw new InvalidFieldError(['query', 'permission'], 'There is no such permission.');
  const organization = { type: 'organization', id: organizationId } as const;
  const isOrganization = resource === undefined || resource === organizationId;
  if (isOrganization && isOfWorkspace)
    throw new InvalidFieldError(['query', 'resource'], 'This permission is one of workspaces: name one.');
  if (isOrganization) return organization;
  const workspaceId = await findWorkspace(queries, organizationId, resource);
  if (!workspaceId) throw new NotFoundError('Resource not found');
  return isOfWorkspace ? { type: 'workspace', id: workspaceId } : organization;
}

async function findWorkspace(queries: Queries, organizationId: string, id: string): Promise<string | undefined> {
  const workspace = await queries.workspace.findFirst({ where: { organizationId, id, deletedAt: null } });
  if (workspace) return workspace.id;
  const tagging = await queries.tagging.findFirst({ where: { organizationId, resourceId: id } });
  return tagging?.workspaceId;
}

async function findKey(queries: Queries, identity: Identity, id: string): Promise<ApiKey> {
  const { organizationId, id: identityId } = identity;
  const key = await queries.apiKey.findFirst({ where: { organizationId, identityId, id, revokedAt: null } });
  if (!key) throw new NotFoundError('API key not found');
  return key;
}

const identityNotFound = () => new NotFoundError('Identity not found');
