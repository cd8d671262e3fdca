import type { PolicyConditionGroup } from '@runyard/contracts';
import { ForbiddenError, type Principal, type Tenant, tenantOf } from '@runyard/service-kit';
import type { Queries } from '../../database/database.ts';
import { accessOfCaller } from '../read-only.ts';

/**
 * Requires that a caller whom access policies concern changes no tag that policies of the organization name: it could take
 * a denial off a deployment, or put on what a policy allows. Administrators of the organization may change the policies too.
 *
 * @returns the caller's tenant
 * @throws ForbiddenError
 */
export async function requireChangeableTags(
  queries: Queries,
  caller: Principal,
  tagKeys: readonly string[],
): Promise<Tenant> {
  const tenant = tenantOf(caller);
  if (caller.organizationRole === 'admin') return tenant;
  const access = await accessOfCaller(queries, caller, tenant.workspaceId);
  if (!access?.policies.length) return tenant;
  const named = await readNamedKeys(queries, tenant.organizationId);
  const refused = tagKeys.find((key) => named.has(key));
  if (refused === undefined) return tenant;
  const detail = `Access policies name the tag key ${JSON.stringify(refused)}, and concern you: ask an administrator.`;
  throw new ForbiddenError(detail, { code: 'tag_decides_access' });
}

/** Returns the tag keys that any policy of the organization names. */
async function readNamedKeys(queries: Queries, organizationId: string): Promise<Set<string>> {
  const policies = await queries.accessPolicy.findMany({
    where: { organizationId },
    select: { conditionGroups: true },
  });
  return new Set(
    policies
      .flatMap(({ conditionGroups }) => conditionGroups as unknown as PolicyConditionGroup[])
      .flatMap(({ conditions }) => conditions.map(({ attribute_key }) => attribute_key)),
  );
}
