import {
  ORGANIZATION_PERMISSION_MEANINGS,
  PERMISSIONS_WITHOUT_EFFECT,
  type PermissionMeaning,
  type Role,
  type RoleCreate,
  type RoleUpdate,
  WORKSPACE_PERMISSION_MEANINGS,
} from '@runyard/contracts';
import { takeAdvisoryLock, toSqlText } from '@runyard/database';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { ConflictError, ForbiddenError, InvalidFieldError, NotFoundError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { audited } from '../../audit/audit-trail.ts';
import type { Database, Queries } from '../../database/database.ts';
import { Prisma, type Role as RoleRow } from '../../generated/client.ts';
import { lockAdministrators } from '../administrators.ts';
import { publishAccessChange } from '../credentials/access-change.ts';
import { applyGroupGrants } from '../group-grants.ts';
import { withEffect } from '../permissions-with-effect.ts';
import { CUSTOM_ROLE_NAME, roleNameOf } from '../platform-roles.ts';
import { requireOrganizationAdministrator } from '../require-administrator.ts';
import { endUseByFormerHolders, listHolders, requireUnused } from './role-holders.ts';

/** Custom roles come after those of the platform. */
const CUSTOM_POSITION = 1_000;

/** Lists the roles of an organization, and lets its administrators write the custom ones, which are of workspaces. */
export class RoleService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async list({ organizationId }: Principal): Promise<Role[]> {
    const roles = await this.#database.prisma.role.findMany({
      where: { OR: [{ organizationId: null }, { organizationId }] },
      orderBy: [{ position: 'asc' }, { id: 'asc' }],
    });
    return roles.map(render);
  }

  async create(caller: Principal, body: RoleCreate, keyed?: KeyedRequest): Promise<Role> {
    requireOrganizationAdministrator(caller, 'write roles');
    checkPermissions(body.permissions);
    const { organizationId } = caller;
    const displayName = toSqlText(body.display_name);
    return this.#database.transact(
      withIdempotencyKey(
        keyed,
        audited(async (transaction, audit) => {
          await requireFreeName(transaction, organizationId, displayName);
          const role = await transaction.role.create({
            data: {
              id: uuidv7(),
              organizationId,
              accessScope: 'workspace',
              name: CUSTOM_ROLE_NAME,
              displayName,
              description: toSqlText(body.description ?? ''),
              permissions: body.permissions,
              position: CUSTOM_POSITION,
            },
          });
          // Groups of SCIM may have waited for a role of this name.
          await applyGroupGrants(transaction, organizationId);
          audit.record(organizationId, { action: 'role.created', ...resourceOf(role), after: contentOf(role) });
          return render(role);
        }),
      ),
    );
  }

  /** Changes a role. Those who have it have its new permissions with the next check, and are signed out. */
  async update(caller: Principal, id: string, body: RoleUpdate): Promise<Role> {
    requireOrganizationAdministrator(caller, 'write roles');
    if (body.permissions) checkPermissions(body.permissions);
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        // Before the role, as changes of groups take both locks in this order.
        await lockAdministrators(transaction, organizationId);
        const before = await lockCustomRole(transaction, organizationId, id, 'change');
        const displayName = body.display_name == null ? before.displayName : toSqlText(body.display_name);
        if (displayName !== before.displayName) await requireFreeName(transaction, organizationId, displayName, id);
        const after = await transaction.role.update({
          where: { id },
          data: {
            displayName,
            name: CUSTOM_ROLE_NAME,
            description: body.description == null ? undefined : toSqlText(body.description),
            permissions: body.permissions ?? undefined,
          },
        });
        if (displayName !== before.displayName) await applyGroupGrants(transaction, organizationId);
        if (!isSameSet(withEffect(before.permissions), withEffect(after.permissions))) {
          const holders = await listHolders(transaction, organizationId, id);
          const identityIds = holders.map(({ identityId }) => identityId);
          await publishAccessChange(transaction, organizationId, identityIds, 'role_changed');
        }
        if (JSON.stringify(contentOf(before)) !== JSON.stringify(contentOf(after))) {
          const [old, changed] = [contentOf(before), contentOf(after)];
          audit.record(organizationId, { action: 'role.updated', ...resourceOf(after), before: old, after: changed });
        }
        return render(after);
      }),
    );
  }

  /** @throws ConflictError that names who has the role */
  async delete(caller: Principal, id: string): Promise<Role> {
    requireOrganizationAdministrator(caller, 'write roles');
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const role = await lockCustomRole(transaction, organizationId, id, 'deletion');
        await requireUnused(transaction, organizationId, id);
        await endUseByFormerHolders(transaction, organizationId, id);
        await transaction.role.delete({ where: { id } });
        audit.record(organizationId, { action: 'role.deleted', ...resourceOf(role), before: contentOf(role) });
        return render(role);
      }),
    );
  }
}

/** Every permission and its meaning. */
export const PERMISSIONS: readonly PermissionMeaning[] = [
  ...meaningsOf(ORGANIZATION_PERMISSION_MEANINGS, 'organization'),
  ...meaningsOf(WORKSPACE_PERMISSION_MEANINGS, 'workspace'),
  ...[...PERMISSIONS_WITHOUT_EFFECT].map((name) => ({
    ...{ name, access_scope: 'workspace' as const, has_effect: false },
    description: 'Without effect: it is known from LangSmith, and nothing here asks for it.',
  })),
];

function meaningsOf(meanings: Record<string, string>, scope: PermissionMeaning['access_scope']): PermissionMeaning[] {
  return Object.entries(meanings).map(([name, description]) => ({
    name,
    description,
    access_scope: scope,
    has_effect: true,
  }));
}

/** @throws InvalidFieldError that names the first permission which roles of workspaces cannot have */
function checkPermissions(permissions: readonly string[]): void {
  const index = permissions.findIndex(
    (name) => !Object.hasOwn(WORKSPACE_PERMISSION_MEANINGS, name) && !PERMISSIONS_WITHOUT_EFFECT.has(name),
  );
  if (index < 0) return;
  throw new InvalidFieldError(
    ['body', 'permissions', index],
    `There is no workspace permission ${JSON.stringify(permissions[index])}.`,
    { code: 'permission_unknown' },
  );
}

/** Groups of SCIM and Terraform name roles by their display names, in any case of letters. */
async function requireFreeName(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  displayName: string,
  ownId?: string,
): Promise<void> {
  await takeAdvisoryLock(transaction, `role names of ${organizationId}`);
  const taken = await transaction.role.findFirst({
    where: {
      OR: [{ organizationId: null }, { organizationId }],
      displayName: { equals: escapeLikePattern(displayName), mode: 'insensitive' },
      ...(ownId !== undefined && { id: { not: ownId } }),
    },
    select: { id: true },
  });
  if (taken) throw new ConflictError(`A role is named ${JSON.stringify(displayName)}`, { code: 'role_name_taken' });
}

/** Escapes the wildcards of ILIKE, with which Prisma compares in any case of letters. */
function escapeLikePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/**
 * Makes other changes of a role wait. A deletion waits for everybody who is giving the role, too, and they for it.
 *
 * @throws NotFoundError; ForbiddenError for a role of the platform
 */
async function lockCustomRole(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  id: string,
  purpose: 'change' | 'deletion',
): Promise<RoleRow> {
  const strength = purpose === 'deletion' ? Prisma.sql`FOR UPDATE` : Prisma.sql`FOR NO KEY UPDATE`;
  await transaction.$queryRaw`
    SELECT 1 FROM role WHERE id = ${id}::uuid AND organization_id = ${organizationId}::uuid ${strength}`;
  const role = await findRole(transaction, organizationId, id);
  if (!role) throw new NotFoundError('Role not found');
  if (role.organizationId === null)
    throw new ForbiddenError('Roles of the platform cannot be changed', { code: 'role_of_platform' });
  return role;
}

function findRole(queries: Queries, organizationId: string, id: string): Promise<RoleRow | null> {
  return queries.role.findFirst({ where: { id, OR: [{ organizationId: null }, { organizationId }] } });
}

const resourceOf = ({ id }: RoleRow) => ({ resourceType: 'role', resourceId: id });
const contentOf = ({ displayName, description, permissions }: RoleRow) => ({ displayName, description, permissions });

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each) => other.includes(each));
}

function render(role: RoleRow): Role {
  return {
    id: role.id,
    name: roleNameOf(role),
    display_name: role.displayName,
    description: role.description,
    organization_id: role.organizationId,
    permissions: role.permissions,
    permissions_without_effect: role.permissions.filter((name) => PERMISSIONS_WITHOUT_EFFECT.has(name)),
    access_scope: role.accessScope as Role['access_scope'],
  };
}
