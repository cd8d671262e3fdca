import { OPEN_API_INFO } from '@runyard/contracts';
import { mapDatabaseOutages, refuseUnstorableText } from '@runyard/database';
import {
  createApp,
  createPrincipalVerifier,
  openEarlyListener,
  requireOperationPermission,
  type ServiceContext,
  withMiddleware,
} from '@runyard/service-kit';
import { createLocalJWKSet } from 'jose';
import { withChangeOrigin } from './audit/change-origin.ts';
import { BootstrapService } from './bootstrap/bootstrap-service.ts';
import type { Config } from './config.ts';
import { limitReads } from './database/limit-reads.ts';
import { errorForm } from './error-form.ts';
import { internalRoutes } from './internal-routes.ts';
import { openAccounts } from './open-accounts.ts';
import { openAudit } from './open-audit.ts';
import { openCredentials } from './open-credentials.ts';
import { openDirectory } from './open-directory.ts';
import { openEmail } from './open-email.ts';
import { openFoundation } from './open-foundation.ts';
import { PlanService } from './organizations/plan-service.ts';
import { openScim } from './scim/open-scim.ts';
import { createScimGate } from './scim/scim-gate.ts';
import { openSso } from './sso/open-sso.ts';

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  const { foundation, bus } = await openFoundation(config, context);
  const { database } = foundation;
  const { prisma, pool } = database;
  const emails = openEmail(foundation);
  const credentials = await openCredentials(foundation);
  const { signingKeys, verifier } = credentials;
  const auditOperations = await openAudit(foundation, bus);
  const sso = await openSso(foundation);
  const accounts = openAccounts(foundation, credentials, emails, sso.logout);
  const operations = [
    ...openDirectory(foundation, credentials, bus, emails),
    ...openScim(database),
    ...sso.routes,
    ...accounts.routes,
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
      signingKeys,
    }),
  ];
  const app = createApp({
    context,
    validationErrors: 'list',
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
