import {
  bootstrap,
  checkReach,
  findDeletedWorkspaces,
  getSigningKeys,
  listOrganizations,
  setOrganizationPlan,
  setupPath,
  verifyKey,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { isActiveIdentity, reachesWorkspace } from './access/access.ts';
import type { BootstrapService } from './directory/organizations/bootstrap-service.ts';
import type { PlanService } from './directory/organizations/plan-service.ts';
import { listDeletedWorkspaces } from './directory/workspaces/deleted-workspaces.ts';
import type { PrismaClient } from './generated/client.ts';
import type { FirstAdministrator } from './sign-in/accounts/first-administrator.ts';
import type { CredentialVerifier } from './sign-in/tokens/credential-verifier.ts';
import type { SigningKeys } from './sign-in/tokens/signing-keys.ts';

/** Serves the other services of the platform, and its operators. */
export function internalRoutes(parts: {
  prisma: PrismaClient;
  plans: PlanService;
  verifier: CredentialVerifier;
  bootstrap: BootstrapService;
  firstAdministrator: FirstAdministrator;
  signingKeys: SigningKeys;
}): BoundOperation[] {
  return [
    bind(verifyKey, async ({ body }) => ok(await parts.verifier.verify(body))),
    bind(checkReach, async ({ body }) => {
      const scope = { organizationId: body.organization_id.toLowerCase(), identityId: body.identity_id.toLowerCase() };
      const workspaceId = body.workspace_id?.toLowerCase();
      const reaches =
        workspaceId === undefined
          ? isActiveIdentity(parts.prisma, scope)
          : reachesWorkspace(parts.prisma, { ...scope, workspaceId });
      return ok({ reaches: await reaches });
    }),
    bind(findDeletedWorkspaces, async ({ body }) =>
      ok({ deleted: await listDeletedWorkspaces(parts.prisma, body.workspaces) }),
    ),
    bind(listOrganizations, async () => ok(await parts.plans.list())),
    bind(setOrganizationPlan, async ({ params, body }) =>
      ok(await parts.plans.set(params.organization_id.toLowerCase(), body.plan)),
    ),
    bind(bootstrap, async ({ body }) => {
      const made = await parts.bootstrap.ensure(body);
      const token = await parts.firstAdministrator.createLink(made.organization_id);
      return ok({ ...made, administrator_setup_path: token === null ? null : setupPath(token) });
    }),
    bind(getSigningKeys, async () =>
      ok({ keys: parts.signingKeys.publicKeys() }, { 'cache-control': 'public, max-age=60' }),
    ),
  ];
}
