import { getRevisionLogs, readBuildLogs, readDeployLogs, readRevisionDeployLogs } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { LogService } from './log-service.ts';

export function logRoutes(logs: LogService): BoundOperation[] {
  return [
    bind(readBuildLogs, async ({ caller, params, body }) =>
      ok(await logs.read(caller, { ...ofProject(params), kind: 'build' }, body, 'body')),
    ),
    bind(readRevisionDeployLogs, async ({ caller, params, body }) =>
      ok(await logs.read(caller, { ...ofProject(params), kind: 'deploy' }, body, 'body')),
    ),
    bind(readDeployLogs, async ({ caller, params, body }) => {
      const deploymentId = params.project_id.toLowerCase();
      return ok(await logs.read(caller, { deploymentId, kind: 'deploy' }, body, 'body'));
    }),
    bind(getRevisionLogs, async ({ caller, params, query }) => {
      const { type: kind, ...request } = query;
      const revisionId = params.revision_id.toLowerCase();
      const wanted = { deploymentId: params.deployment_id.toLowerCase(), revisionId, kind };
      return ok(await logs.read(caller, wanted, request, 'query'));
    }),
  ];
}

const ofProject = (params: { project_id: string; revision_id: string }) => ({
  deploymentId: params.project_id.toLowerCase(),
  revisionId: params.revision_id.toLowerCase(),
});
