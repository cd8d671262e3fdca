import {
  createDeployment,
  createRevision,
  deleteDeployment,
  getDeployment,
  getRevision,
  isUuid,
  listDeployments,
  listRevisions,
  patchDeployment,
  redeployRevision,
} from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/database';
import { type BoundOperation, bind, created, noContent, ok, UnprocessableError } from '@runyard/service-kit';
import type { DeploymentService } from './deployment-service.ts';

export function deploymentRoutes(deployments: DeploymentService, keys: IdempotencyKeys): BoundOperation[] {
  return [
    bind(listDeployments, async ({ caller, query }) => {
      const filter = {
        name: query.name,
        nameContains: query.name_contains,
        status: query.status,
        deploymentType: query.deployment_type,
        ids: query.deployment_ids === undefined ? undefined : parseIds(query.deployment_ids),
      };
      return ok(await deployments.list(caller, filter, { limit: query.limit, offset: query.offset }));
    }),
    bindCreation(keys, createDeployment, created, ({ caller, body }, keyed) => deployments.create(caller, body, keyed)),
    bind(getDeployment, async ({ caller, params }) => ok(await deployments.get(caller, idOf(params)))),
    bind(patchDeployment, async ({ caller, params, body }) => ok(await deployments.patch(caller, idOf(params), body))),
    bind(deleteDeployment, async ({ caller, params }) => {
      await deployments.delete(caller, idOf(params));
      return noContent();
    }),
    bind(listRevisions, async ({ caller, params, query }) => {
      const { limit, offset, ...filter } = query;
      return ok(await deployments.listRevisions(caller, idOf(params), filter, { limit, offset }));
    }),
    bindCreation(keys, createRevision, created, ({ caller, params, body }, keyed) =>
      deployments.createRevision(caller, idOf(params), body, keyed),
    ),
    bind(getRevision, async ({ caller, params }) =>
      ok(await deployments.getRevision(caller, idOf(params), params.revision_id.toLowerCase())),
    ),
    bindCreation(keys, redeployRevision, ok, ({ caller, params }, keyed) =>
      deployments.redeploy(caller, idOf(params), params.revision_id.toLowerCase(), keyed),
    ),
  ];
}

const idOf = (params: { deployment_id: string }) => params.deployment_id.toLowerCase();

function parseIds(text: string): string[] {
  const ids = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  const faulty = ids.find((id) => !isUuid(id));
  if (faulty !== undefined) {
    const msg = 'Value must be a list of UUIDs, separated by commas';
    const detail = [{ loc: ['query', 'deployment_ids'], msg, type: 'uuid_parsing' }];
    throw new UnprocessableError(msg, { body: { detail } });
  }
  return ids.map((id) => id.toLowerCase());
}
