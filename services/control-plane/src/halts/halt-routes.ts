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
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { HaltService } from './halt-service.ts';

export function haltRoutes(halts: HaltService): BoundOperation[] {
  const subject = (params: { deployment_id: string }) => ({ deploymentId: params.deployment_id.toLowerCase() });
  return [
    bind(haltDeployment, async ({ caller, params, body }) => ok(await halts.halt(caller, subject(params), body))),
    bind(resumeDeployment, async ({ caller, params }) => ok(await halts.resume(caller, subject(params)))),
    bind(getDeploymentHalt, async ({ caller, params }) => ok(await halts.find(caller, subject(params)))),
    bind(haltWorkspace, async ({ caller, body }) => ok(await halts.halt(caller, 'workspace', body))),
    bind(resumeWorkspace, async ({ caller }) => ok(await halts.resume(caller, 'workspace'))),
    bind(getWorkspaceHalt, async ({ caller }) => ok(await halts.find(caller, 'workspace'))),
    bind(haltOrganization, async ({ caller, body }) => ok(await halts.halt(caller, 'organization', body))),
    bind(resumeOrganization, async ({ caller }) => ok(await halts.resume(caller, 'organization'))),
    bind(getOrganizationHalt, async ({ caller }) => ok(await halts.find(caller, 'organization'))),
  ];
}
