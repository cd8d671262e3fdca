import type { WorkspaceStats } from '@runyard/contracts';
import { type Principal, tenantOf } from '@runyard/service-kit';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import type { Queries } from '../../database/database.ts';
import type { DeploymentCounts } from './deployment-counts.ts';

/**
 * Counts what the caller's workspace holds. Each number is as of its own query. Callers whom access policies concern get no
 * number of deployments: it would count those that are hidden from them.
 */
export async function countWorkspace(
  { prisma: queries, deployments }: { prisma: Queries; deployments: DeploymentCounts },
  caller: Principal,
): Promise<WorkspaceStats> {
  const tenant = tenantOf(caller);
  const { organizationId, workspaceId } = tenant;
  const now = new Date();
  const [members, pending, keys, secrets, tagKeys, deploymentCount] = await Promise.all([
    queries.member.count({ where: { ...tenant, identity: { kind: 'person', isRemoved: false } } }),
    queries.inviteWorkspace.count({
      where: { workspaceId, invite: { organizationId, endedAt: null, expiresAt: { gt: now } } },
    }),
    queries.apiKey.count({
      where: {
        organizationId,
        kind: 'service_key',
        revokedAt: null,
        OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
        identity: {
          everywhereRoleId: null,
          organizationRoleId: { not: PLATFORM_ROLES.organizationAdmin },
          members: { some: { workspaceId }, every: { workspaceId } },
        },
      },
    }),
    queries.workspaceSecret.count({ where: tenant }),
    queries.tagKey.count({ where: tenant }),
    caller.isBoundedByPolicies ? null : deployments.count(tenant),
  ]);
  return {
    tenant_id: workspaceId,
    member_count: members,
    pending_member_count: pending,
    api_key_count: keys,
    secret_count: secrets,
    tag_key_count: tagKeys,
    dataset_count: 0,
    tracer_session_count: 0,
    repo_count: 0,
    annotation_queue_count: 0,
    dashboards_count: 0,
    deployment_count: deploymentCount,
  };
}
