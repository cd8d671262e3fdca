import {
  getDeploymentHalt,
  getOrganizationHalt,
  getWorkspaceHalt,
  haltDeployment,
  haltOrganization,
  haltWorkspace,
  resumeDeployment,
  resumeOrganization,
  resumeWorkspace,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok, requestOrigin } from '@runyard/service-kit';
import type { HaltService } from './halt-service.ts';

export function haltRoutes(halts: HaltService): BoundOperation[] {
  const subject = (params: { deployment_id: string }) => ({ deploymentId: params.deployment_id.toLowerCase() });
  const by = (...[operation, request]: Parameters<typeof requestOrigin>) => ({
    caller: request.caller,
    origin: requestOrigin(operation, request),
  });
  return [
    bind(haltDeployment, async (request) =>
      ok(await halts.halt(by(haltDeployment, request), subject(request.params), request.body)),
    ),
    bind(resumeDeployment, async (request) =>
      ok(await halts.resume(by(resumeDeployment, request), subject(request.params))),
    ),
    bind(getDeploymentHalt, async ({ caller, params }) => ok(await halts.find(caller, subject(params)))),
    bind(haltWorkspace, async (request) => ok(await halts.halt(by(haltWorkspace, request), 'workspace', request.body))),
    bind(resumeWorkspace, async (request) => ok(await halts.resume(by(resumeWorkspace, request), 'workspace'))),
    bind(getWorkspaceHalt, async ({ caller }) => ok(await halts.find(caller, 'workspace'))),
    bind(haltOrganization, async (request) =>
      ok(await halts.halt(by(haltOrganization, request), 'organization', request.body)),
    ),
    bind(resumeOrganization, async (request) =>
      ok(await halts.resume(by(resumeOrganization, request), 'organization')),
    ),
    bind(getOrganizationHalt, async ({ caller }) => ok(await halts.find(caller, 'organization'))),
  ];
}
