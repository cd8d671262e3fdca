import { fileURLToPath } from 'node:url';
import { OPEN_API_INFO } from '@runyard/contracts';
import { mapDatabaseOutages, retryStartStep } from '@runyard/database';
import { Cipher, createDataCipher } from '@runyard/encryption';
import { createEventBus, OutboxRelay } from '@runyard/event-bus';
import { openIdempotencyKeys } from '@runyard/idempotency';
import {
  createApp,
  createPrincipalVerifier,
  openEarlyListener,
  requireOperationPermission,
  type ServiceContext,
  toEventBusConfig,
  withMiddleware,
} from '@runyard/service-kit';
import { createLocalJWKSet } from 'jose';
import { accessRoutes } from './access/access-routes.ts';
import { apiKeyRoutes } from './api-keys/api-key-routes.ts';
import { createLastUseRecorder } from './api-keys/last-use-recorder.ts';
import { PersonalTokenService } from './api-keys/personal-token-service.ts';
import { ServiceAccountService } from './api-keys/service-account-service.ts';
import { ServiceKeyService } from './api-keys/service-key-service.ts';
import { AuditKeys } from './audit/audit-keys.ts';
import { AuditRetention } from './audit/audit-retention.ts';
import { auditRoutes } from './audit/audit-routes.ts';
import { withChangeOrigin } from './audit/change-origin.ts';
import { BootstrapService } from './bootstrap/bootstrap-service.ts';
import type { Config } from './config.ts';
import { openDatabase } from './database/database.ts';
import { errorForm } from './error-form.ts';
import { ExpiredAccountSweeper } from './identities/expired-account-sweeper.ts';
import { internalRoutes } from './internal-routes.ts';
import { InviteMaker } from './invites/create-invites.ts';
import { InviteLinks } from './invites/invite-links.ts';
import { inviteRoutes } from './invites/invite-routes.ts';
import { InviteService } from './invites/invite-service.ts';
import { InviteeService } from './invites/invitee-service.ts';
import { memberRoutes } from './members/member-routes.ts';
import { MemberService } from './members/member-service.ts';
import { openAccounts } from './open-accounts.ts';
import { openEmail } from './open-email.ts';
import { MyOrganizationsService } from './organizations/my-organizations-service.ts';
import { organizationRoutes } from './organizations/organization-routes.ts';
import { OrganizationService } from './organizations/organization-service.ts';
import { PlanService } from './organizations/plan-service.ts';
import { policyRoutes } from './policies/policy-routes.ts';
import { PolicyService } from './policies/policy-service.ts';
import { roleRoutes } from './roles/role-routes.ts';
import { RoleService } from './roles/role-service.ts';
import { ScimGroupService } from './scim/groups/group-service.ts';
import { createScimGate } from './scim/scim-gate.ts';
import { scimRoutes } from './scim/scim-routes.ts';
import { scimTokenRoutes } from './scim/tokens/scim-token-routes.ts';
import { ScimTokenService } from './scim/tokens/scim-token-service.ts';
import { ScimUserService } from './scim/users/user-service.ts';
import { secretRoutes } from './secrets/secret-routes.ts';
import { SecretService } from './secrets/secret-service.ts';
import { createLastSeenRecorder } from './sessions/last-seen-recorder.ts';
import { LiveSessions } from './sessions/live-sessions.ts';
import { SessionSweeper } from './sessions/session-sweeper.ts';
import { openSso } from './sso/open-sso.ts';
import { tagRoutes } from './tags/tag-routes.ts';
import { TagService } from './tags/tag-service.ts';
import { TaggingService } from './tags/tagging-service.ts';
import { AccessTokens } from './tokens/access-tokens.ts';
import { CredentialVerifier } from './tokens/credential-verifier.ts';
import { KeyVerifier } from './tokens/key-verifier.ts';
import { PrincipalTokens } from './tokens/principal-tokens.ts';
import { sessionRoutes } from './tokens/session-routes.ts';
import { SessionService } from './tokens/session-service.ts';
import { SessionVerifier } from './tokens/session-verifier.ts';
import { SigningKeys } from './tokens/signing-keys.ts';
import { WorkspaceInviteService } from './workspaces/workspace-invite-service.ts';
import { WorkspaceInviteeService } from './workspaces/workspace-invitee-service.ts';
import { workspaceMemberRoutes } from './workspaces/workspace-member-routes.ts';
import { WorkspaceMemberService } from './workspaces/workspace-member-service.ts';
import { workspaceRoutes } from './workspaces/workspace-routes.ts';
import { WorkspaceService } from './workspaces/workspace-service.ts';

/** The path is valid from `src/` and from `dist/`. */
const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger } = context;
  const cipher = new Cipher(config.ENCRYPTION_KEY);
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  const { DATABASE_URI: connectionString, DATABASE_POOL_SIZE: poolSize } = config;
  const open = () => openDatabase({ connectionString, poolSize, migrationsDir });
  const database = await retryStartStep(open, context);
  lifecycle.onStop('database', () => database.close());
  const { prisma, pool } = database;

  const bus = createEventBus(toEventBusConfig(config, 'runyard-org-access'), context);
  lifecycle.onStop('event bus', () => bus.close());
  const relay = new OutboxRelay({ pool, bus, logger, metrics: context.metrics });
  relay.start();
  database.onCommit(() => relay.wake());
  lifecycle.onStop('outbox relay', () => relay.stop());

  const emails = openEmail(config, { database, cipher, context });

  const signingKeys = new SigningKeys({ prisma, cipher, logger, rotationDays: config.SIGNING_KEY_ROTATION_DAYS });
  await retryStartStep(() => signingKeys.start(), context);
  lifecycle.onStop('signing keys', () => signingKeys.stop());
  const lastUse = createLastUseRecorder({ prisma, logger });
  const auditKeys = new AuditKeys({ prisma, cipher, logger });
  await retryStartStep(() => auditKeys.start(), context);
  const retention = new AuditRetention({ database, keys: auditKeys, days: config.AUDIT_RETENTION_DAYS, logger });
  retention.start();
  lifecycle.onStop('audit retention', () => retention.stop());
  lastUse.start();
  lifecycle.onStop('last use of keys', () => lastUse.stop());
  const lastSeen = createLastSeenRecorder({ prisma, logger });
  lastSeen.start();
  lifecycle.onStop('last use of sessions', () => lastSeen.stop());

  const endedSessions = new SessionSweeper({ prisma, logger });
  endedSessions.start();
  lifecycle.onStop('ended sessions', () => endedSessions.stop());

  const expired = new ExpiredAccountSweeper({ database, logger });
  expired.start();
  lifecycle.onStop('accounts with expired keys', () => expired.stop());

  const taggings = new TaggingService({ database });
  taggings.followDeletions(bus, context);

  const tokens = new PrincipalTokens({ keys: signingKeys, ttlSeconds: config.PRINCIPAL_TOKEN_TTL_SECONDS });
  const accessTokens = new AccessTokens({ keys: signingKeys, ttlSeconds: config.ACCESS_TOKEN_TTL_SECONDS });
  const limits = { maxSeconds: config.SESSION_MAX_SECONDS, idleSeconds: config.SESSION_IDLE_SECONDS };
  const sessions = new LiveSessions({ prisma, limits, lastSeen });
  const keys = openIdempotencyKeys(
    {
      pool,
      cipher: createDataCipher(config.ENCRYPTION_KEY),
      keptHours: config.IDEMPOTENCY_KEY_RETENTION_HOURS,
      validationErrors: 'list',
    },
    context,
  );
  const members = new MemberService({ database });
  const maker = new InviteMaker({
    emails,
    links: new InviteLinks(config.PUBLIC_URL),
    ttlDays: config.INVITE_TTL_DAYS,
  });
  const invitees = new InviteeService({ database });
  const sso = openSso({ config, database, cipher, logger });
  await retryStartStep(() => sso.start(), context);
  lifecycle.onStop('identity providers', () => sso.stop());
  const installationAllowsJit = config.SELF_HOSTED_JIT_PROVISIONING_ENABLED;
  const accounts = openAccounts({ config, context, database, cipher, emails, sessions, lastSeen, accessTokens, keys });
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
    operations: withMiddleware(
      [
        ...organizationRoutes({
          organizations: new OrganizationService({ database, installationAllowsJit }),
          mine: new MyOrganizationsService({
            database,
            rules: {
              isCreationDisabled: config.FF_ORG_CREATION_DISABLED,
              arePersonalDisabled: config.PERSONAL_ORGS_DISABLED,
              plan: config.DEFAULT_ORGANIZATION_PLAN,
            },
          }),
          keys,
        }),
        ...workspaceMemberRoutes(
          {
            members: new WorkspaceMemberService({ database }),
            invites: new WorkspaceInviteService({
              database,
              maker,
              isAlwaysAllowed: config.WORKSPACE_SCOPE_ORG_INVITES_ENABLED,
            }),
            invitees: new WorkspaceInviteeService({ database, invitees }),
          },
          keys,
        ),
        ...workspaceRoutes({ workspaces: new WorkspaceService({ database }), prisma }, keys),
        ...memberRoutes(members),
        ...inviteRoutes({
          members,
          invites: new InviteService({ database, maker }),
          invitees,
          keys,
        }),
        ...apiKeyRoutes(
          {
            keys: new ServiceKeyService({ database }),
            tokens: new PersonalTokenService({ database, isCreationDisabled: config.PAT_CREATION_DISABLED }),
            accounts: new ServiceAccountService({ database }),
          },
          keys,
        ),
        ...scimRoutes({ users: new ScimUserService({ database }), groups: new ScimGroupService({ database }) }),
        ...secretRoutes(new SecretService({ database, cipher })),
        ...roleRoutes(new RoleService({ database }), keys),
        ...scimTokenRoutes(new ScimTokenService({ database })),
        ...policyRoutes({ prisma, policies: new PolicyService({ database }) }),
        ...tagRoutes({ prisma, tags: new TagService({ database }), taggings }),
        ...sso.routes(keys),
        ...accessRoutes({ prisma }),
        ...accounts.routes,
        ...auditRoutes({ prisma, keys: auditKeys }),
        ...sessionRoutes(new SessionService({ database, sessions, accessTokens })),
        ...internalRoutes({
          prisma,
          plans: new PlanService({ database }),
          verifier: new CredentialVerifier({
            keys: new KeyVerifier({ prisma, tokens, lastUse }),
            sessions: new SessionVerifier({ prisma, sessions, lastSeen, tokens, accessTokens }),
          }),
          bootstrap: new BootstrapService({
            database,
            plan: config.DEFAULT_ORGANIZATION_PLAN,
            onEnsured: () => sso.ensureEnvironmentProvider(),
          }),
          firstAdministrator: accounts.firstAdministrator,
          signingKeys,
        }),
      ],
      [mapDatabaseOutages, withChangeOrigin, requireOperationPermission],
    ),
  });
  earlyListener.serve(app);
  lifecycle.ready();
}
