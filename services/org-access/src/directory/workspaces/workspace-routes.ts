import {
  createWorkspace,
  deleteWorkspace,
  getWorkspaceStats,
  getWorkspaceUsageLimits,
  listWorkspaceShares,
  listWorkspaces,
  updateWorkspace,
} from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { PrismaClient } from '../../generated/client.ts';
import type { DeploymentCounts } from './deployment-counts.ts';
import { countWorkspace } from './workspace-figures.ts';
import type { WorkspaceService } from './workspace-service.ts';

export function workspaceRoutes(
  parts: { workspaces: WorkspaceService; prisma: PrismaClient; deployments: DeploymentCounts },
  keys: IdempotencyKeys,
): BoundOperation[] {
  const { workspaces } = parts;
  return [
    bind(listWorkspaces, async ({ caller, query }) =>
      ok(await workspaces.list(caller, { includeDeleted: query.include_deleted ?? false })),
    ),
    bindCreation(keys, createWorkspace, ok, ({ caller, body }, keyed) => workspaces.create(caller, body, keyed)),
    bind(updateWorkspace, async ({ caller, params, body }) =>
      ok(await workspaces.update(caller, params.workspace_id.toLowerCase(), body)),
    ),
    bind(deleteWorkspace, async ({ caller, params }) =>
      ok(await workspaces.delete(caller, params.workspace_id.toLowerCase())),
    ),
    bind(getWorkspaceStats, async ({ caller }) => ok(await countWorkspace(parts, caller))),
    bind(getWorkspaceUsageLimits, async () =>
      ok({ in_reject_set: false, usage_limit_type: null, tenant_limit: null } as const),
    ),
    bind(listWorkspaceShares, async () => ok({ entities: [] })),
  ];
}
