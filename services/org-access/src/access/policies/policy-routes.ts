import { accessPolicyAttachments, accessPolicyOperations, decideAccess } from '@runyard/contracts';
import { type BoundOperation, bind, created, noContent, ok } from '@runyard/service-kit';
import type { PrismaClient } from '../../generated/client.ts';
import { accessOf } from '../access.ts';
import { decideAboutDeployments } from '../resource-permissions.ts';
import type { PolicyService } from './policy-service.ts';

export function policyRoutes({
  prisma,
  policies,
}: {
  prisma: PrismaClient;
  policies: PolicyService;
}): BoundOperation[] {
  return [
    ...accessPolicyOperations.flatMap((operations) => [
      bind(operations.list, async ({ caller }) => ok({ access_policies: await policies.list(caller) })),
      bind(operations.create, async ({ caller, body }) => created(await policies.create(caller, body))),
      bind(operations.get, async ({ caller, params }) => ok(await policies.get(caller, idOf(params)))),
      bind(operations.update, async ({ caller, params, body }) =>
        ok(await policies.update(caller, idOf(params), body)),
      ),
      bind(operations.delete, async ({ caller, params }) => {
        await policies.delete(caller, idOf(params));
        return noContent();
      }),
    ]),
    ...accessPolicyAttachments.flatMap((operations) => [
      bind(operations.attach, async ({ caller, params, body }) => {
        await policies.attach(caller, params.role_id.toLowerCase(), lowerCase(body.access_policy_ids));
        return noContent();
      }),
      bind(operations.detach, async ({ caller, params, query }) => {
        await policies.detach(caller, params.role_id.toLowerCase(), lowerCase(query.access_policy_ids));
        return noContent();
      }),
    ]),
    bind(decideAccess, async ({ body }) => {
      const scope = {
        organizationId: body.organization_id.toLowerCase(),
        workspaceId: body.workspace_id.toLowerCase(),
      };
      const access = await accessOf(prisma, { ...scope, identityId: body.identity_id.toLowerCase() });
      const question = { deploymentIds: lowerCase(body.deployment_ids), permissions: body.permissions };
      const left = access ? await decideAboutDeployments(prisma, scope, access, question) : new Map<string, string[]>();
      return ok({ decisions: [...left].map(([deployment_id, permissions]) => ({ deployment_id, permissions })) });
    }),
  ];
}

const idOf = (params: { access_policy_id: string }) => params.access_policy_id.toLowerCase();
const lowerCase = (ids: readonly string[]) => ids.map((id) => id.toLowerCase());
