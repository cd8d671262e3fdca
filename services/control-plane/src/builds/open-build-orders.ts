import { BuildSender } from '@runyard/build-queue';
import type { ObjectStorage } from '@runyard/object-storage';
import { type Ownership, Reconciler } from '@runyard/reconciler';
import { CopiedLogs } from '@runyard/revision-logs';
import type { BoundOperation, ServiceContext } from '@runyard/service-kit';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { RolloutSignals } from '../deployments/rollout-signals.ts';
import { recordCommit } from '../sources/github/record-commit.ts';
import type { BuildArchives } from './build-archives.ts';
import { BuildOrders } from './build-orders.ts';
import { BuildQueue } from './build-queue.ts';
import { buildRoutes } from './build-routes.ts';
import { BuildStore } from './build-store.ts';
import type { BuildUrls } from './build-urls.ts';
import type { Builds } from './builds.ts';
import { DeploymentBuilds } from './deployment-builds.ts';

/** Opens what gets revisions built: the queue, the orders, and who looks for builds that were lost. */
export function openBuildOrders(
  config: Config,
  dependencies: {
    database: Database;
    builds: Builds;
    archives: BuildArchives;
    objects: ObjectStorage;
    urls: BuildUrls;
    rollouts: RolloutSignals;
    /** The leases of this process among those that look after builds. */
    ownership: Ownership;
    /** False: data planes of the platform itself run images alone. */
    runsProjects: boolean;
    context: Pick<ServiceContext, 'lifecycle' | 'logger'>;
  },
): { routes: BoundOperation[] } {
  const { database, builds, archives, objects, urls, rollouts, ownership, runsProjects } = dependencies;
  const { lifecycle, logger } = dependencies.context;
  const store = new BuildStore({
    ...{ database, runsProjects, buildsMax: config.BUILDS_MAX_PER_ORGANIZATION },
    onMoved: (id) => rollouts.notifyBuilt(id),
  });
  const sender = new BuildSender({
    redis: config.REDIS_URI,
    prefix: config.BUILD_QUEUE_PREFIX,
    onError: (error) => logger.warn('queue of builds not reached, will retry', { error }),
  });
  lifecycle.onStop('queue of builds', () => sender.close());
  const queue = new BuildQueue({ sender, urls, store });
  const reconciler = new Reconciler({
    store,
    workOn: (id) => new DeploymentBuilds(id, { store, builds, queue, archives, logger }),
    ownership,
    sweepMs: config.SWEEP_SECONDS * 1000,
    logger,
  });
  rollouts.wakeBuilds(reconciler);
  store
    .retryGivenUp()
    .catch((error: unknown) => logger.warn('builds that were given up are not tried again', { error }))
    .finally(() => reconciler.start());
  lifecycle.onStop('builds', () => reconciler.stop(0));
  const orders = new BuildOrders({
    ...{ store, builds, queue, archives, objects, logger },
    copies: new CopiedLogs(config.DATA_DIR),
    recordCommit: (revisionId, commit) => recordCommit(database.prisma, revisionId, commit),
    onEnded: (deploymentId) => rollouts.notifyToBuild(deploymentId),
  });
  return { routes: buildRoutes(orders, urls) };
}
