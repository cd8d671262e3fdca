import type { IdempotencyKeys } from '@runyard/idempotency';
import type { BoundOperation, Lifecycle, Logger, PrincipalVerifier, Tenant } from '@runyard/service-kit';
import type { Signals } from '@runyard/signals';
import type { Builds } from '../builds/builds.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { DeploymentKeys } from '../deployments/deployment-keys.ts';
import type { DeploymentTokens } from '../deployments/deployment-tokens.ts';
import type { RolloutSignals } from '../deployments/rollout-signals.ts';
import { CopiedLogs } from '../logs/copied-logs.ts';
import type { SampleStore } from '../monitoring/sample-store.ts';
import type { Ownership } from '../reconciler/ownership.ts';
import { Reconciler } from '../reconciler/reconciler.ts';
import type { Registry } from '../registry/registry.ts';
import type { SecretSets } from '../secrets/secret-set.ts';
import { CallerCheck } from './caller-check.ts';
import { acceptListenerKeys } from './data-plane-principal.ts';
import { DataPlaneService } from './data-plane-service.ts';
import { LeaseExpiryWatch } from './lease-expiry-watch.ts';
import { ListenerKeys } from './listener-keys.ts';
import { ListenerLeases } from './listener-leases.ts';
import { listenerRoutes } from './listener-routes.ts';
import { ListenerService } from './listener-service.ts';
import { PullTokenIssuer } from './pull-token-issuer.ts';
import { RemoteBuild } from './remote-build.ts';
import { RemoteBuildStore } from './remote-build-store.ts';
import { ReportedLogs } from './reported-logs.ts';

export interface Listeners {
  routes(keys: IdempotencyKeys): BoundOperation[];
  /** Deletes the listeners of a deleted workspace, after its deployments. */
  removeWorkspace(tenant: Tenant): Promise<void>;
  /** Authenticates listener keys, and other callers with `others`. */
  acceptKeys(others: PrincipalVerifier): PrincipalVerifier;
}

/** Opens all parts for remote data planes and registers what has to be closed. */
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
    builds: Builds;
    /** The leases of this process among those that build. */
    ownership: Ownership;
    registry: Registry;
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
    ownership,
    registry,
    removeContent,
    lifecycle,
    logger,
  } = dependencies;
  const leaseMs = config.LISTENER_LEASE_SECONDS * 1000;
  const silence = new LeaseExpiryWatch({ database, leaseMs, logger });
  silence.start();
  lifecycle.onStop('lease expiry watch', () => silence.stop());
  const store = new RemoteBuildStore(database, (deploymentId) => rollouts.notifyBuilt(deploymentId));
  const builds = new Reconciler({
    store,
    workOn: (id) => new RemoteBuild(id, { store, builds: dependencies.builds, logger }),
    ownership,
    sweepMs: config.SWEEP_SECONDS * 1000,
    logger,
  });
  rollouts.wakeBuilds(builds);
  builds.start();
  lifecycle.onStop('builds for data planes', () => builds.stop(0));
  const leases = new ListenerLeases({ database, leaseMs });
  const copies = new CopiedLogs(config.DATA_DIR);
  const listenerKeys = new ListenerKeys(database);
  const services = {
    listenerKeys,
    listeners: new ListenerService({ database, copies, removeContent }),
    dataPlanes: new DataPlaneService({
      leases,
      secrets,
      tokens,
      keys,
      registry,
      signals,
      samples,
      copies,
      builds: { wake: (id) => rollouts.notifyToBuild(id) },
      removeContent,
    }),
    pullTokens: new PullTokenIssuer({ leases, registry }),
    logs: new ReportedLogs({ leases, copies }),
    callers: new CallerCheck({ leases, orgAccessUrl: config.ORG_ACCESS_URL, internalToken: config.INTERNAL_TOKEN }),
  };
  return {
    routes: (keys) => listenerRoutes(services, keys),
    removeWorkspace: (tenant) => services.listeners.deleteAll(tenant),
    acceptKeys: (others) => acceptListenerKeys(listenerKeys, others),
  };
}
