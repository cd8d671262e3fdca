import type { AccessPolicy, AccessPolicyCreate, AccessPolicyUpdate, PolicyConditionGroup } from '@runyard/contracts';
import { toSqlText, toSqlValue } from '@runyard/database';
import { ConflictError, InvalidFieldError, NotFoundError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { isParentGone, isTaken } from '../../database/is-taken.ts';
import type { Prisma } from '../../generated/client.ts';
import { publishPolicyChange } from '../policy-changes.ts';
import { requireOrganizationAdministrator } from '../require-administrator.ts';
import { lockGrantableRoles } from '../role-authority.ts';
import { policyStore, type StoredPolicy } from './policy-store.ts';

/** The permissions that policies decide about, by the type of resource: to create one, nothing is there that has tags. */
const DECIDED: Partial<Record<PolicyConditionGroup['resource_type'], RegExp>> = {
  deployment: /^(deployments:(read|update|delete)|runs:(create|read|update|delete))$/,
  workspace: /^workspaces:(read|manage|manage-members|manage-keys)$/,
  service_key: /^workspaces:manage-keys$/,
};

/** Keeps access policies, and the roles that they are attached to. Only organization administrators change them. */
export class PolicyService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async list({ organizationId }: Principal): Promise<AccessPolicy[]> {
    return (await policyStore.list(this.#database.prisma, organizationId)).map(render);
  }

  async get({ organizationId }: Principal, id: string): Promise<AccessPolicy> {
    return render(requirePolicy(await policyStore.find(this.#database.prisma, organizationId, id)));
  }

  /** @throws ConflictError when the organization has a policy of this name */
  create(caller: Principal, body: AccessPolicyCreate): Promise<AccessPolicy> {
    checkGroups(body.condition_groups);
    return this.#change(caller, body.name, async (transaction, audit) => {
      const { organizationId } = caller;
      const id = uuidv7();
      const roleIds = await requireRoles(transaction, organizationId, body.role_ids ?? []);
      await transaction.accessPolicy.create({
        data: {
          id,
          organizationId,
          name: toSqlText(body.name),
          description: body.description == null ? null : toSqlText(body.description),
          effect: body.effect,
          conditionGroups: toStoredGroups(body.condition_groups),
        },
      });
      await attachRoles(transaction, organizationId, id, roleIds);
      const created = render((await policyStore.find(transaction, organizationId, id))!);
      record(audit, caller, 'access_policy.created', { id, after: created });
      return created;
    });
  }

  update(caller: Principal, id: string, change: AccessPolicyUpdate): Promise<AccessPolicy> {
    if (change.condition_groups) checkGroups(change.condition_groups);
    return this.#change(caller, change.name, async (transaction, audit) => {
      const { organizationId } = caller;
      const before = render(requirePolicy(await policyStore.find(transaction, organizationId, id)));
      const roleIds = change.role_ids && (await requireRoles(transaction, organizationId, change.role_ids));
      await transaction.accessPolicy.updateMany({
        where: { organizationId, id },
        data: {
          name: change.name === undefined ? undefined : toSqlText(change.name),
          description: change.description == null ? change.description : toSqlText(change.description),
          effect: change.effect,
          conditionGroups: change.condition_groups && toStoredGroups(change.condition_groups),
        },
      });
      if (roleIds) {
        await transaction.roleAccessPolicy.deleteMany({ where: { organizationId, policyId: id } });
        await attachRoles(transaction, organizationId, id, roleIds);
      }
      const after = render(requirePolicy(await policyStore.find(transaction, organizationId, id)));
      record(audit, caller, 'access_policy.changed', { id, before, after });
      return after;
    });
  }

  delete(caller: Principal, id: string): Promise<void> {
    return this.#change(caller, undefined, async (transaction, audit) => {
      const { organizationId } = caller;
      const before = render(requirePolicy(await policyStore.find(transaction, organizationId, id)));
      await transaction.accessPolicy.deleteMany({ where: { organizationId, id } });
      record(audit, caller, 'access_policy.deleted', { id, before });
    });
  }

  attach(caller: Principal, roleId: string, policyIds: readonly string[]): Promise<void> {
    return this.#change(caller, undefined, async (transaction, audit) => {
      const { organizationId } = caller;
      await requireAll(transaction, organizationId, roleId, policyIds);
      for (const id of policyIds) {
        await attachRoles(transaction, organizationId, id, [roleId]);
        record(audit, caller, 'access_policy.attached', { id, details: { roleId } });
      }
    });
  }

  detach(caller: Principal, roleId: string, policyIds: readonly string[]): Promise<void> {
    return this.#change(caller, undefined, async (transaction, audit) => {
      const { organizationId } = caller;
      await requireAll(transaction, organizationId, roleId, policyIds);
      for (const policyId of policyIds) {
        await transaction.roleAccessPolicy.deleteMany({ where: { organizationId, roleId, policyId } });
        record(audit, caller, 'access_policy.detached', { id: policyId, details: { roleId } });
      }
    });
  }

  async #change<Result>(
    caller: Principal,
    name: string | undefined,
    work: (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<Result>,
  ): Promise<Result> {
    requireOrganizationAdministrator(caller, 'change access policies');
    try {
      return await this.#database.transact(
        audited(async (transaction, audit) => {
          const result = await work(transaction, audit);
          await publishPolicyChange(transaction, caller.organizationId);
          return result;
        }),
      );
    } catch (error) {
      if (isTaken(error)) {
        const detail = `An access policy ${JSON.stringify(name)} already exists`;
        throw new ConflictError(detail, { code: 'access_policy_exists', cause: error });
      }
      // A concurrent request deleted the policy.
      if (isParentGone(error)) throw policyNotFound();
      throw error;
    }
  }
}

function checkGroups(groups: readonly PolicyConditionGroup[]): void {
  groups.forEach(({ resource_type, permission }, index) => {
    if (DECIDED[resource_type]?.test(permission) ?? true) return;
    throw new InvalidFieldError(
      ['body', 'condition_groups', index, 'permission'],
      `Policies about resources of the type ${resource_type} do not decide about this permission.`,
    );
  });
}

function toStoredGroups(groups: readonly PolicyConditionGroup[]): Prisma.InputJsonArray {
  return toSqlValue(groups) as unknown as Prisma.InputJsonArray;
}

/**
 * Checks that the organization has these roles, and keeps them from being deleted until the transaction ends.
 *
 * @throws InvalidFieldError
 */
async function requireRoles(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  roleIds: readonly string[],
): Promise<string[]> {
  const ids = [...new Set(roleIds.map((id) => id.toLowerCase()))];
  const roles = await lockGrantableRoles(transaction, organizationId);
  if (ids.every((id) => roles.has(id))) return ids;
  throw new InvalidFieldError(['body', 'role_ids'], 'There is no such role.', { code: 'role_or_workspace_unknown' });
}

async function attachRoles(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  policyId: string,
  roleIds: readonly string[],
): Promise<void> {
  await transaction.roleAccessPolicy.createMany({
    data: roleIds.map((roleId) => ({ organizationId, roleId, policyId })),
    skipDuplicates: true,
  });
}

/**
 * Checks that the role and the policies exist, and keeps the role from being deleted until the transaction ends.
 *
 * @throws NotFoundError
 */
async function requireAll(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  roleId: string,
  policyIds: readonly string[],
): Promise<void> {
  if (!(await lockGrantableRoles(transaction, organizationId)).has(roleId)) throw new NotFoundError('Role not found');
  const known = await transaction.accessPolicy.count({ where: { organizationId, id: { in: [...policyIds] } } });
  if (known < new Set(policyIds).size) throw policyNotFound();
}

function record(
  audit: AuditRecorder,
  { organizationId }: Principal,
  action: string,
  { id, ...event }: { id: string; before?: object; after?: object; details?: object },
): void {
  audit.record(organizationId, { action, resourceType: 'access_policy', resourceId: id, ...event });
}

function render(policy: StoredPolicy): AccessPolicy {
  return {
    id: policy.id,
    name: policy.name,
    description: policy.description,
    effect: policy.effect as AccessPolicy['effect'],
    condition_groups: policy.conditionGroups as unknown as PolicyConditionGroup[],
    role_ids: policy.roles.map(({ roleId }) => roleId),
    created_at: policy.createdAt.toISOString(),
    updated_at: policy.updatedAt.toISOString(),
  };
}

function requirePolicy(policy: StoredPolicy | null): StoredPolicy {
  if (!policy) throw policyNotFound();
  return policy;
}

const policyNotFound = () => new NotFoundError('Access policy not found');
