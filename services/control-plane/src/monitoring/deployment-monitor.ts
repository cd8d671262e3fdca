import type { Logger, Metrics } from '@runyard/service-kit';
import type { DeploymentDatabases } from '../data-plane/deployment-databases.ts';
import type { RunningRevision } from '../drivers/driver.ts';
import type { RunningRevisions } from '../drivers/running-revisions.ts';
import type { Autoscaler } from './autoscaler.ts';
import { type DatabaseFigures, type DeploymentFigures, figuresBetween } from './deployment-figures.ts';
import { type Reading, readParts } from './part-readings.ts';
import type { SampleStore } from './sample-store.ts';

export interface DeploymentMonitorOptions {
  running: RunningRevisions;
  databases: Pick<DeploymentDatabases, 'figures'>;
  samples: Pick<SampleStore, 'insert' | 'removeBefore'>;
  autoscaler: Pick<Autoscaler, 'apply'>;
  metrics: Metrics;
  everyMs: number;
  retentionMs: number;
  logger: Logger;
}

/** The size of a database changes slowly, and reading it inspects each of its files. */
const DATABASES_EVERY_MS = 60_000;
const PRUNE_EVERY_MS = 10 * 60_000;

/** Samples the deployments that run under this process every few seconds, stores the samples and scales by them. */
export class DeploymentMonitor {
  readonly #options: DeploymentMonitorOptions;
  readonly #readings = new Map<string, Reading>();
  readonly #latest = new Map<string, DeploymentFigures>();
  #databases = new Map<string, DatabaseFigures>();
  #databasesReadAt = -Infinity;
  #prunedAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: DeploymentMonitorOptions) {
    this.#options = options;
    this.#report();
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.look()
        .catch((error: unknown) => this.#options.logger.warn('deployment sampling failed', { error }))
        .finally(() => {
          if (!this.#isStopped) this.start();
        });
    }, this.#options.everyMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async look(): Promise<void> {
    const { running, samples, autoscaler } = this.#options;
    const deployments = running.byDeployment();
    await this.#readDatabases([...deployments.keys()]);
    this.#forgetAllBut(deployments);
    const taken = await Promise.all(
      [...deployments].map(async ([deploymentId, revisions]) => {
        const reading = await readParts(revisions);
        const before = this.#readings.get(deploymentId);
        const figures = figuresBetween(before, reading, this.#databases.get(deploymentId));
        this.#readings.set(deploymentId, reading);
        this.#latest.set(deploymentId, figures);
        if (!this.#isStopped) autoscaler.apply(revisions, figures, reading.atMs);
        return { deploymentId, takenAt: new Date(reading.atMs), figures };
      }),
    );
    await samples.insert(taken);
    await this.#prune();
  }

  async #readDatabases(ids: string[]): Promise<void> {
    const { databases, logger } = this.#options;
    if (ids.length === 0 || performance.now() - this.#databasesReadAt < DATABASES_EVERY_MS) return;
    this.#databasesReadAt = performance.now();
    try {
      this.#databases = await databases.figures(ids);
    } catch (error) {
      this.#databases = new Map();
      logger.warn('deployment database sampling failed', { error });
    }
  }

  async #prune(): Promise<void> {
    const { samples, retentionMs } = this.#options;
    if (performance.now() - this.#prunedAt < PRUNE_EVERY_MS) return;
    this.#prunedAt = performance.now();
    await samples.removeBefore(new Date(Date.now() - retentionMs));
  }

  #forgetAllBut(deployments: Map<string, RunningRevision[]>): void {
    for (const id of this.#readings.keys()) {
      if (deployments.has(id)) continue;
      this.#readings.delete(id);
      this.#latest.delete(id);
    }
  }

  /** Publishes the newest metrics at this service's own `/metrics`. */
  #report(): void {
    const { metrics } = this.#options;
    const gauge = (name: keyof DeploymentFigures, help: string) =>
      metrics.gauge(`runyard_deployment_${name}`, help, ['deployment_id'], (each) => {
        each.reset();
        for (const [deployment_id, figures] of this.#latest) {
          const value = figures[name];
          if (value !== null) each.set({ deployment_id }, value);
        }
      });
    gauge('agent_api_replicas', 'Servers of a deployment that answer.');
    gauge('run_worker_replicas', 'Workers of a deployment that answer.');
    gauge('agent_api_cpu_cores', 'Cores in use by the servers of a deployment.');
    gauge('run_worker_cpu_cores', 'Cores in use by the workers of a deployment.');
    gauge('agent_api_memory_bytes', 'Resident memory of the servers of a deployment.');
    gauge('run_worker_memory_bytes', 'Resident memory of the workers of a deployment.');
    gauge('pending_runs', 'Runs of a deployment that wait.');
    gauge('active_runs', 'Runs of a deployment under way.');
    gauge('database_bytes', 'Size of the database of a deployment.');
    gauge('database_connections', 'Connections to the database of a deployment.');
  }
}
