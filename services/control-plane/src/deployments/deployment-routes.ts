import {
  countDeployments,
  createDeployment,
  deleteDeployment,
  deleteDeployments,
  getDeployment,
  isUuid,
  listDeployments,
  patchDeployment,
} from '@runyard/contracts';
import { toSqlValue } from '@runyard/database';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, created, InvalidFieldError, noContent, ok } from '@runyard/service-kit';
import type { PrismaClient } from '../generated/client.ts';
import type { DeploymentService } from './deployment-service.ts';

/** Serves the number of deployments to org-access, which shows it with the other numbers of a workspace. */
export function deploymentCountRoutes(prisma: PrismaClient): BoundOperation[] {
  return [
    bind(countDeployments, async ({ body }) => {
      const tenant = { organizationId: body.organization_id, workspaceId: body.workspace_id };
      const one = body.deployment_id === undefined ? {} : { id: body.deployment_id.toLowerCase() };
      return ok({ count: await prisma.deployment.count({ where: { ...tenant, ...one, deleteRequestedAt: null } }) });
    }),
  ];
}

export function deploymentRoutes(deployments: DeploymentService, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bind(listDeployments, async ({ caller, query }) => {
      const filter = {
        name: query.name,
        nameContains: query.name_contains,
        status: query.status,
        deploymentType: query.deployment_type,
        ids: parseIds('deployment_ids', query.deployment_ids),
        imageVersion: query.image_version,
        isRemote: query.remote_reconciled,
        agentId: query.agent_id,
        agentEnvironment: query.agent_environment,
      };
      const tagValueIds = parseIds('tag_value_ids', query.tag_value_ids);
      return ok(await deployments.list(caller, filter, tagValueIds, { limit: query.limit, offset: query.offset }));
    }),
    bindCreation(keys, createDeployment, created, ({ caller, body }, keyed) =>
      deployments.create(caller, toSqlValue(body), keyed),
    ),
    bind(deleteDeployments, async ({ caller, query }) => {
      const ids = query.deployment_ids.map((id) => id.toLowerCase());
      const outcome = await deployments.deleteAll(caller, ids);
      return { status: outcome.failed.length === 0 ? 200 : 207, body: outcome };
    }),
    bind(getDeployment, async ({ caller, params }) => ok(await deployments.get(caller, idOf(params)))),
    bind(patchDeployment, async ({ caller, params, body }) =>
      ok(await deployments.patch(caller, idOf(params), toSqlValue(body))),
    ),
    bind(deleteDeployment, async ({ caller, params }) => {
      await deployments.delete(caller, idOf(params));
      return noContent();
    }),
  ];
}

const idOf = (params: { deployment_id: string }) => params.deployment_id.toLowerCase();

/** Returns undefined when the parameter is missing. */
function parseIds(parameter: string, text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const ids = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  if (!ids.every(isUuid)) {
    const msg = 'Value must be a list of UUIDs, separated by commas';
    throw new InvalidFieldError(['query', parameter], msg, { type: 'uuid_parsing' });
  }
  return ids.map((id) => id.toLowerCase());
}
