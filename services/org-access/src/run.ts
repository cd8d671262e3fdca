import { GROUP_BODY_BYTES_MAX, OPEN_API_INFO } from '@runyard/contracts';
import { mapDatabaseOutages, refuseUnstorableText } from '@runyard/database';
import {
  createApp,
  createPrincipalVerifier,
  type ErrorForm,
  openEarlyListener,
  requireOperationPermission,
  type ServiceContext,
  withMiddleware,
} from '@runyard/service-kit';
import { createLocalJWKSet } from 'jose';
import { openAccess } from './access/open-access.ts';
import { withChangeOrigin } from './audit/change-origin.ts';
import { openAudit } from './audit/open-audit.ts';
import type { Config } from './config.ts';
import { limitReads } from './database/limit-reads.ts';
import { openEmail } from './directory/email/open-email.ts';
import { openDirectory } from './directory/open-directory.ts';
import { BootstrapService } from './directory/organizations/bootstrap-service.ts';
import { PlanService } from './directory/organizations/plan-service.ts';
import { openFoundation } from './foundation.ts';
import { internalRoutes } from './internal-routes.ts';
import { openPages } from './pages/open-pages.ts';
import { isOAuthPath, toOAuthError } from './programs/oauth/oauth-error.ts';
import { openPrograms } from './programs/open-programs.ts';
import { openScim } from './scim/open-scim.ts';
import { toScimError } from './scim/scim-error-form.ts';
import { createScimGate, isScimPath } from './scim/scim-gate.ts';
import { openAccounts } from './sign-in/accounts/open-accounts.ts';
import { ConsoleSessions } from './sign-in/console/console-sessions.ts';
import { openSso } from './sign-in/sso/open-sso.ts';
import { openCredentials } from './sign-in/tokens/open-credentials.ts';

/** The paths whose errors are `{"error": "…"}`, without and with the prefix of self-hosted clients. */
const PLATFORM_ERRORS = /^(\/api)?\/v1\/platform\/orgs\/current\/(scim|access-policies|roles)(\/|\?|$)/;

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  const foundation = await openFoundation(config, context);
  const { database } = foundation;
  const { prisma, pool } = database;
  const emails = openEmail(foundation);
  const credentials = await openCredentials(foundation);
  const { signingKeys, verifier } = credentials;
  const auditOperations = await openAudit(foundation);
  const sso = await openSso(foundation);
  const accounts = openAccounts(foundation, credentials.sessions, emails);
  const programs = openPrograms(foundation, credentials, accounts.limit);
  const consoleSessions = new ConsoleSessions({ database, ...credentials, logout: sso.logout });
  const operations = [
    ...openDirectory(foundation, emails),
    ...openAccess(foundation),
    ...openScim(database),
    ...sso.routes,
    ...accounts.routes,
    ...programs.routes,
    ...openPages(foundation, credentials, accounts, programs, sso.logout, consoleSessions),
    ...auditOperations,
    ...credentials.routes,
    ...internalRoutes({
      prisma,
      plans: new PlanService({ database }),
      verifier,
      bootstrap: new BootstrapService({
        database,
        plan: config.DEFAULT_ORGANIZATION_PLAN,
        onEnsured: () => sso.ensureEnvironmentProvider(),
      }),
      firstAdministrator: accounts.firstAdministrator,
      signInLinks: accounts.signInLinks,
      consoleSessions,
      signingKeys,
    }),
  ];
  const app = createApp({
    context,
    validationErrors: 'list',
    // That of the largest operation, a group of SCIM.
    bodyLimitBytes: GROUP_BODY_BYTES_MAX,
    errorForm,
    before: [createScimGate(database)],
    internalToken: config.INTERNAL_TOKEN,
    principal: createPrincipalVerifier({
      audience: 'org-access',
      keys: (header, token) => createLocalJWKSet({ keys: signingKeys.publicKeys() })(header, token),
    }),
    readiness: { database: async () => void (await pool.query('SELECT 1')) },
    openApi: OPEN_API_INFO['org-access'],
    operations: withMiddleware(operations, [
      mapDatabaseOutages,
      refuseUnstorableText,
      withChangeOrigin,
      requireOperationPermission,
      limitReads(config),
    ]),
  });
  earlyListener.serve(app);
  context.lifecycle.ready();
}

/** Gives the errors of some paths the form that their clients read; lists of invalid fields stay lists. */
const errorForm: ErrorForm = (req, reply) => {
  if (isScimPath(req)) return toScimError(req, reply);
  if (isOAuthPath(req)) return toOAuthError(req, reply);
  const { detail, ...more } = reply.body;
  if (typeof detail === 'string' && PLATFORM_ERRORS.test(req.url ?? '')) {
    return { ...reply, body: { ...more, error: detail } };
  }
  return reply;
};
