import { BuildReceiver } from '@runyard/build-queue';
import { createApp, openEarlyListener, type ServiceContext, startHourlySweep } from '@runyard/service-kit';
import { Builder } from './build/builder.ts';
import { openBuildUsers } from './commands/build-users.ts';
import type { Config } from './config.ts';
import { ProjectSources } from './fetch/project-sources.ts';
import { BuildJobs } from './jobs/build-jobs.ts';
import { BuildMetrics } from './jobs/build-metrics.ts';
import { ControlPlaneClient } from './jobs/control-plane-client.ts';
import { ProjectResults } from './results/project-results.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Milliseconds for builds to say that another builder has to go on with them. */
const STOP_MS = 8_000;

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger } = context;
  const { CONTROL_PLANE_URL, REGISTRY_SERVICE_URL: registryUrl, DATA_DIR: dataDir } = config;
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  const client = new ControlPlaneClient(CONTROL_PLANE_URL);
  const builder = new Builder({
    dataDir,
    users: await openBuildUsers(config.PROJECT_USERS, dataDir),
    pythons: config.RUNYARD_PYTHONS ?? [],
    minFreeBytes: config.DISK_MIN_FREE_BYTES,
    limits: {
      memoryBytes: config.BUILD_MEMORY_BYTES,
      processes: config.BUILD_PROCESSES,
      disk: { bytes: config.BUILD_DISK_BYTES, files: config.BUILD_FILES },
    },
    sources: new ProjectSources({ client, dataDir }),
    results: new ProjectResults({ client, registryUrl }),
  });
  await builder.removeAbandoned();
  startHourlySweep('package caches', () => builder.sweep(config.BUILD_CACHE_DAYS * DAY_MS), context);
  const metrics = new BuildMetrics(context.metrics);
  const jobs = new BuildJobs({ client, work: (order, of) => builder.build(order, of), metrics, logger });
  const idleMs = config.BUILDER_IDLE_SECONDS && config.BUILDER_IDLE_SECONDS * 1_000;
  const receiver = new BuildReceiver({
    redis: config.REDIS_URI,
    prefix: config.BUILD_QUEUE_PREFIX,
    concurrency: config.CONCURRENT_BUILDS,
    onJob: (job, addedAt) => jobs.run(job, addedAt),
    idle: idleMs === undefined ? undefined : { afterMs: idleMs, onIdle: () => void lifecycle.stop('nothing to build') },
    onError: (error) => logger.warn('queue of builds failed, will retry', { error }),
  });
  lifecycle.onStop('builds', async () => {
    jobs.stop();
    await receiver.close(STOP_MS);
  });
  receiver.start();
  earlyListener.serve(createApp({ context, operations: [] }));
  lifecycle.ready();
}
