import type { AccessExplanation } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import type { Identity } from '../generated/client.ts';
import type { Grant } from './effective-roles.ts';
import type { Place } from './explain-access.ts';
import type { ExplainedPermission } from './explain-policies.ts';
import { PLATFORM_ROLES } from './platform-roles.ts';
import type { PolicyDecision } from './policy-decision.ts';

type Change = AccessExplanation['changes'][number];

interface Explained {
  identity: Identity;
  /** Without regard to whether the identity is disabled. */
  isPermitted: boolean;
  /** The roles permit it, and the key only reads. */
  isWithheldByKey: boolean;
  permission: string;
  place: Place;
  via: AccessExplanation['via'];
  next: Grant | null;
  explained: ExplainedPermission;
}

/** Returns the changes after which the permission would be there, or would not be. */
export async function findChanges(queries: Queries, explained: Explained): Promise<Change[]> {
  const { identity, isPermitted, isWithheldByKey } = explained;
  const { decision } = explained.explained;
  const changes: Change[] = [];
  if (identity.disabledAt)
    changes.push({
      change: 'enable_identity',
      description: `It was disabled${identity.disabledBy ? ` by ${identity.disabledBy}` : ''}: only an enabled identity has permissions.`,
    });
  if (isWithheldByKey) changes.push({ change: 'use_unrestricted_key', description: 'This key only reads.' });
  if (decision) changes.push(detachPolicies(decision));
  else if (!isPermitted && !isWithheldByKey)
    changes.push(await giveRole(queries, explained), ...allowByTags(explained));
  else if (isPermitted && identity.disabledAt === null && explained.via !== null)
    changes.push(await takeRole(queries, explained));
  return changes;
}

function detachPolicies({ effect, policies }: PolicyDecision): Change {
  const names = policies.map(({ name }) => JSON.stringify(name)).join(', ');
  const then = effect === 'deny' ? 'other policies and the role decide' : 'the role decides';
  return {
    change: 'detach_policies',
    description: `Without the access policies ${names}, or with other tags on the resource, ${then}.`,
    policy_ids: policies.map(({ id }) => id),
  };
}

function allowByTags({ explained }: Explained): Change[] {
  const policies = explained.otherwiseAllowing;
  if (policies.length === 0) return [];
  const names = policies.map(({ name }) => JSON.stringify(name)).join(', ');
  const description = `Tags on the resource that one of the access policies ${names} matches.`;
  return [{ change: 'change_tags', description, policy_ids: policies.map(({ id }) => id) }];
}

async function giveRole(queries: Queries, { identity, permission, place, via }: Explained): Promise<Change> {
  const roles = await queries.role.findMany({
    where: {
      accessScope: place.type,
      permissions: { has: permission },
      OR: [{ organizationId: null }, { organizationId: identity.organizationId }],
    },
    orderBy: [{ position: 'asc' }, { id: 'asc' }],
  });
  const roleIds = roles.map(({ id }) => id);
  const isGranted = identity.kind === 'person' && via !== null;
  return {
    change: isGranted ? 'change_source' : 'give_role',
    description: isGranted
      ? `One of these roles in the ${place.type}, from the source that decides or from a stronger one.`
      : `One of these roles in the ${place.type}.`,
    role_ids: roleIds,
  };
}

async function takeRole(queries: Queries, { permission, place, via, next }: Explained): Promise<Change> {
  if (via === 'organization_administrator')
    return {
      change: 'remove_source',
      description: 'Who is no administrator of the organization has in the workspace the role of a membership alone.',
    };
  const fallback = next?.roleId ?? (place.type === 'organization' ? PLATFORM_ROLES.organizationViewer : null);
  const role = fallback && (await queries.role.findUnique({ where: { id: fallback } }));
  const isStill = role ? role.permissions.includes(permission) : false;
  const then = role
    ? `the role is ${role.displayName}, which ${isStill ? 'has' : 'lacks'} the permission`
    : 'there is no role';
  return { change: 'remove_source', description: `Without the source that decides, ${then}.` };
}
