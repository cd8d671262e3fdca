import {
  bootstrap,
  checkReach,
  createSignInLink,
  endConsoleSession,
  findDeletedWorkspaces,
  getSigningKeys,
  issueConsoleAccessToken,
  listOrganizations,
  openConsoleSession,
  setOrganizationPlan,
  setupPath,
  signInLinkPath,
  verifyKey,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import { isActiveIdentity, reachesWorkspace } from './access/access.ts';
import type { BootstrapService } from './directory/organizations/bootstrap-service.ts';
import type { PlanService } from './directory/organizations/plan-service.ts';
import { listDeletedWorkspaces } from './directory/workspaces/deleted-workspaces.ts';
import type { PrismaClient } from './generated/client.ts';
import type { FirstAdministrator } from './sign-in/accounts/first-administrator.ts';
import type { SignInLinks } from './sign-in/accounts/sign-in-links.ts';
import type { ConsoleSessions } from './sign-in/console/console-sessions.ts';
import type { CredentialVerifier } from './sign-in/tokens/credential-verifier.ts';
import type { SigningKeys } from './sign-in/tokens/signing-keys.ts';

/** Answers with secrets are kept in no cache. */
const NOT_STORED = { 'cache-control': 'no-store' };

/** Serves the other services of the platform, and its operators. */
export function internalRoutes(parts: {
  prisma: PrismaClient;
  plans: PlanService;
  verifier: CredentialVerifier;
  bootstrap: BootstrapService;
  firstAdministrator: FirstAdministrator;
  signInLinks: SignInLinks;
  consoleSessions: ConsoleSessions;
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
    bind(createSignInLink, async () => {
      const { token, expiresAt } = await parts.signInLinks.create();
      return ok({ path: signInLinkPath(token), expires_at: expiresAt.toISOString() }, NOT_STORED);
    }),
    bind(openConsoleSession, async ({ body }) =>
      ok(await parts.consoleSessions.open({ code: body.code, verifier: body.code_verifier }), NOT_STORED),
    ),
    bind(issueConsoleAccessToken, async ({ body }) =>
      ok(await parts.consoleSessions.issueAccessToken(body.token), NOT_STORED),
    ),
    bind(endConsoleSession, async ({ body }) =>
      ok({ logout_url: await parts.consoleSessions.end(body.token) }, NOT_STORED),
    ),
    bind(getSigningKeys, async () =>
      ok({ keys: parts.signingKeys.publicKeys() }, { 'cache-control': 'public, max-age=60' }),
    ),
  ];
}
