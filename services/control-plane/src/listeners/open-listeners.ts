import type { DeploymentTokens, HostNames, SecretSets } from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import type { IdempotencyKeys } from '@runyard/idempotency';
import { CopiedLogs } from '@runyard/revision-logs';
import type {
  BoundOperation,
  InternalClient,
  Lifecycle,
  Logger,
  PrincipalVerifier,
  Tenant,
} from '@runyard/service-kit';
import type { Signals } from '@runyard/signals';
import type { BuildArchives } from '../builds/build-archives.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { DeploymentKeys } from '../deployments/deployment-keys.ts';
import type { RolloutSignals } from '../deployments/rollout-signals.ts';
import type { SampleStore } from '../deployments/sample-store.ts';
import type { Registry } from '../image-registry/registry.ts';
import type { WorkspaceSecrets } from '../org-access/workspace-secrets.ts';
import { CallerCheck } from './caller-check.ts';
import { acceptDataPlaneKeys } from './data-plane-principal.ts';
import { DataPlaneService } from './data-plane-service.ts';
import { LeaseExpiryWatch } from './lease-expiry-watch.ts';
import { ListenerKeys } from './listener-keys.ts';
import { listenerRoutes } from './listener-routes.ts';
import { ListenerService } from './listener-service.ts';
import { PullTokenIssuer } from './pull-token-issuer.ts';
import { ReportedLogs } from './reported-logs.ts';
import { SharedStates } from './shared-states.ts';
import { Speakers } from './speakers.ts';

export interface Listeners {
  routes(keys: IdempotencyKeys): BoundOperation[];
  /** Deletes the listeners of a deleted workspace, after its deployments. */
  removeWorkspace(tenant: Tenant): Promise<void>;
  /** Authenticates the keys of data planes, and other callers with `others`. */
  acceptKeys(others: PrincipalVerifier): PrincipalVerifier;
}

/** Opens all parts for data planes and registers what has to be closed. */
export function openListeners(
  config: Config,
  dependencies: {
    database: Database;
    secrets: SecretSets;
    deploymentTokens: DeploymentTokens;
    deploymentKeys: DeploymentKeys;
    samples: SampleStore;
    signals: Signals;
    rollouts: RolloutSignals;
    archives: BuildArchives;
    registry: Registry;
    cipher: Cipher;
    hosts: HostNames;
    orgAccess: InternalClient;
    workspaceSecrets: WorkspaceSecrets;
    /** Removes a deployment's sources, builds and images. */
    removeContent(deploymentId: string): Promise<void>;
    lifecycle: Lifecycle;
    logger: Logger;
  },
): Listeners {
  const {
    database,
    secrets,
    deploymentTokens: tokens,
    deploymentKeys: keys,
    samples,
    signals,
    rollouts,
    registry,
    cipher,
    hosts,
    orgAccess,
    workspaceSecrets,
    archives,
    removeContent,
    lifecycle,
    logger,
  } = dependencies;
  const listenerLeaseMs = config.LISTENER_LEASE_SECONDS * 1000;
  const silence = new LeaseExpiryWatch({ database, leaseMs: listenerLeaseMs, logger });
  silence.start();
  lifecycle.onStop('lease expiry watch', () => silence.stop());
  const copies = new CopiedLogs(config.DATA_DIR);
  const listenerKeys = new ListenerKeys(database);
  const platformLeaseMs = config.LEASE_SECONDS * 1000;
  const services = {
    speakers: new Speakers({ database, listenerLeaseMs, platformLeaseMs }),
    listenerKeys,
    listeners: new ListenerService({ database, copies, removeContent }),
    dataPlanes: new DataPlaneService({
      desiredState: { secrets, tokens, keys, registry: registry.address },
      shared: new SharedStates({ cipher, hosts }),
      ...{ signals, samples, copies, rollouts, workspaceSecrets, archives, removeContent },
    }),
    pullTokens: new PullTokenIssuer(registry),
    logs: new ReportedLogs(copies),
    callers: new CallerCheck(orgAccess),
  };
  return {
    routes: (keys) => listenerRoutes(services, keys),
    removeWorkspace: (tenant) => services.listeners.deleteAll(tenant),
    acceptKeys: (others) =>
      acceptDataPlaneKeys({ ofListeners: listenerKeys, ofPlatform: config.DATA_PLANE_KEY }, others),
  };
}
