import type { IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { OPEN_API_INFO } from '@runyard/contracts';
import { mapDatabaseOutages, reportPoolMetrics, retryStartStep } from '@runyard/database';
import { DeletedWorkspaces } from '@runyard/deleted-workspaces';
import { Cipher, createDataCipher } from '@runyard/encryption';
import { createEventBus } from '@runyard/event-bus';
import { openIdempotencyKeys } from '@runyard/idempotency';
import { OutboundClient, OutboundPolicy } from '@runyard/outbound';
import {
  ConfigError,
  createApp,
  createPrincipalVerifier,
  InternalClient,
  openEarlyListener,
  type Principal,
  type PrincipalVerifier,
  requireOperationPermission,
  type ServiceContext,
  toEventBusConfig,
  UnauthorizedError,
  withMiddleware,
} from '@runyard/service-kit';
import { Signals } from '@runyard/signals';
import { AgentDeployments } from './agents/agent-deployments.ts';
import { ConnectionService } from './agents/connection-service.ts';
import { EndedAgents } from './agents/ended-agents.ts';
import type { Config } from './config.ts';
import { openDatabase } from './database/database.ts';
import { Authentication } from './flows/authentication.ts';
import { BrowserCookie } from './flows/browser-cookie.ts';
import { callbackRoutes } from './flows/callback-routes.ts';
import { FlowService } from './flows/flow-service.ts';
import { startRoutes } from './flows/start-routes.ts';
import { moveFormerRows } from './former-rows/move-former-rows.ts';
import { IdentityReach } from './identity-reach.ts';
import { oauthRoutes } from './oauth-routes.ts';
import { ProviderRequests } from './protocol/provider-requests.ts';
import { ClientRenewal } from './providers/client-renewal.ts';
import { ProviderClients } from './providers/provider-clients.ts';
import { ProviderService } from './providers/provider-service.ts';
import { RedirectUris } from './providers/redirect-uris.ts';
import { Revocations } from './providers/revocations.ts';
import { TokenVault } from './token-vault.ts';
import { GrantedTokens } from './tokens/granted-tokens.ts';
import { RemovedIdentities } from './tokens/removed-identities.ts';
import { removeWorkspace } from './tokens/removed-workspaces.ts';
import { TokenRefresh } from './tokens/token-refresh.ts';
import { TokenService } from './tokens/token-service.ts';
import { listWorkspacesInUse } from './tokens/workspaces-in-use.ts';

/** Settings of a provider and what a person is asked for are a page of text. */
const BODY_LIMIT_BYTES = 1024 * 1024;

/** The path is valid from `src/` and from `dist/`. */
export const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** Services of the platform answer within milliseconds or not at all. */
const QUESTION_TIMEOUT_MS = 3_000;
/** A page of former rows is read and decrypted meanwhile. */
const FORMER_ROWS_TIMEOUT_MS = 10_000;

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger, metrics } = context;
  const policy = createPolicy(config.OUTBOUND_ALLOWED_NETWORKS);
  const cipher = new Cipher(config.ENCRYPTION_KEY);
  const internalClient = (service: string, url: string, timeoutMs: number) =>
    new InternalClient({ service, url, internalToken: config.INTERNAL_TOKEN, timeoutMs });
  const orgAccess = internalClient('org-access', config.ORG_ACCESS_URL, QUESTION_TIMEOUT_MS);
  const controlPlane = internalClient('control-plane', config.CONTROL_PLANE_URL, QUESTION_TIMEOUT_MS);
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  const open = () =>
    openDatabase({
      connectionString: config.DATABASE_URI,
      poolSize: config.DATABASE_POOL_SIZE,
      preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
      migrationsDir,
    });
  const database = await retryStartStep(open, context);
  lifecycle.onStop('database', () => database.close());
  reportPoolMetrics(database.pool, metrics);
  const formerOwner = internalClient('control-plane', config.CONTROL_PLANE_URL, FORMER_ROWS_TIMEOUT_MS);
  await moveFormerRows({ database, cipher, controlPlane: formerOwner }, context);

  const bus = createEventBus(toEventBusConfig(config, 'runyard-oauth-broker'), context);
  lifecycle.onStop('event bus', () => bus.close());
  const outbound = new OutboundClient(policy);
  lifecycle.onStop('requests to OAuth providers', () => outbound.close());
  const requests = new ProviderRequests(outbound, config.OAUTH_PROVIDER_TIMEOUT_SECONDS * 1000);
  const signals = new Signals(config.REDIS_URI, { channel: 'oauth-broker', logger });
  lifecycle.onStop('signals', () => signals.close());
  // Waiting requests are answered before their connections are closed.
  lifecycle.onDrain('waits for signals', () => signals.drain());

  const vault = new TokenVault(cipher);
  const clients = new ProviderClients({ database, cipher, requests });
  const revocations = new Revocations({ clients, vault, logger });
  const reach = new IdentityReach(orgAccess);
  const deployments = new AgentDeployments(controlPlane);
  const identities = new RemovedIdentities({ database, reach, revocations, logger });
  identities.start(lifecycle);
  const agents = new EndedAgents({ database, deployments, revocations, logger });
  agents.start(lifecycle);
  const workspaces = new DeletedWorkspaces({
    listInUse: () => listWorkspacesInUse(database.prisma),
    orgAccess,
    removeParts: [(tenant) => removeWorkspace({ database, revocations, logger }, tenant)],
    logger,
  });
  workspaces.start(lifecycle);
  // Each owner is asked about its own events: one that does not answer stops its topic alone.
  const follow = (topic: 'organizations' | 'deployments', group: string, onEvent: (event: unknown) => Promise<void>) =>
    void bus.subscribe({ topics: [topic], group, from: 'earliest', onEvent }).catch((error: unknown) => {
      if (!lifecycle.isDraining) logger.error('event bus subscription failed', { topic, error });
    });
  follow('organizations', 'oauth-broker', async (event) => {
    await identities.onEvent(event);
    await workspaces.onEvent(event);
  });
  follow('deployments', 'oauth-broker-agents', (event) => agents.onEvent(event));

  const redirectUris = new RedirectUris(config.PUBLIC_URL, config.OAUTH_CALLBACK_URL);
  const providers = new ProviderService({ database, clients, policy, requests, redirectUris, revocations });
  const refresh = new TokenRefresh({
    database,
    clients,
    vault,
    signals,
    logger,
    providerTimeoutMs: requests.timeoutMs,
  });
  const flows = new FlowService({
    database,
    cipher,
    clients,
    renewal: new ClientRenewal({ database, clients, requests, redirectUris }),
    tokens: new GrantedTokens({ database, vault }),
    refresh,
    signals,
    redirectUris,
    logger,
    ttlMs: config.OAUTH_FLOW_TTL_SECONDS * 1000,
  });
  const services = {
    providers,
    flows,
    authentication: new Authentication({ database, providers, flows, refresh, reach, deployments }),
    tokens: new TokenService({ database, providers, vault, revocations }),
    connections: new ConnectionService({ database, deployments, providers, vault }),
  };
  const keys = openIdempotencyKeys(
    {
      pool: database.pool,
      cipher: createDataCipher(config.ENCRYPTION_KEY),
      keptHours: config.IDEMPOTENCY_KEY_RETENTION_HOURS,
      validationErrors: 'list',
    },
    context,
  );
  const cookie = new BrowserCookie(config.PUBLIC_URL);
  const jwksUrl = new URL('/.well-known/jwks.json', config.ORG_ACCESS_URL).href;
  const principal = createPrincipalVerifier({ audience: 'oauth-broker', jwksUrl });
  const app = createApp({
    context,
    validationErrors: 'list',
    bodyLimitBytes: BODY_LIMIT_BYTES,
    internalToken: config.INTERNAL_TOKEN,
    principal,
    readiness: { database: async () => void (await database.pool.query('SELECT 1')) },
    openApi: OPEN_API_INFO['oauth-broker'],
    operations: withMiddleware(
      [
        ...oauthRoutes(services, keys),
        ...startRoutes(flows, { cookie, findPerson: (request) => findPerson(request, principal) }),
        ...callbackRoutes(flows, { cookie, finishedUrl: config.OAUTH_FINISHED_URL }),
      ],
      [mapDatabaseOutages, requireOperationPermission],
    ),
  });
  earlyListener.serve(app);
  lifecycle.ready();
}

/** Returns the person who signed in, for an operation that anybody may call; null for anybody else. */
async function findPerson(request: IncomingMessage, principal: PrincipalVerifier): Promise<Principal | null> {
  try {
    const caller = await principal.authenticate(request);
    return caller.kind === 'session' ? caller : null;
  } catch (error) {
    if (error instanceof UnauthorizedError) return null;
    throw error;
  }
}

/** Plain `http:` is allowed only if the operator allows requests to private networks. */
function createPolicy(allowedNetworks: string[] = []): OutboundPolicy {
  try {
    return new OutboundPolicy({ subject: 'Provider', requireHttps: allowedNetworks.length === 0, allowedNetworks });
  } catch (error) {
    throw new ConfigError([`OUTBOUND_ALLOWED_NETWORKS: ${(error as Error).message}`]);
  }
}
