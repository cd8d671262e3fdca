import type { DeploymentMetricValues, SampleSink } from '@runyard/deployments';
import { type Logger, type Metrics, PeriodicTask } from '@runyard/service-kit';
import type { DeploymentDatabases } from '../deployment-servers/deployment-databases.ts';
import type { RunningRevision } from '../drivers/driver.ts';
import type { RunningRevisions } from '../drivers/running-revisions.ts';
import type { Autoscaler } from './autoscaler.ts';
import { computeMetrics, type DatabaseMetrics } from './deployment-metrics.ts';
import { type ReplicaSamples, sampleReplicas } from './replica-samples.ts';

export interface DeploymentMonitorOptions {
  running: RunningRevisions;
  databases: Pick<DeploymentDatabases, 'readMetrics'>;
  samples: SampleSink;
  autoscaler: Pick<Autoscaler, 'apply'>;
  metrics: Metrics;
  everyMs: number;
  logger: Logger;
}

/** The size of a database changes slowly, and reading it inspects each of its files. */
const DATABASES_EVERY_MS = 60_000;

/** Samples the deployments that run under this process every few seconds, stores the samples and scales by them. */
export class DeploymentMonitor {
  readonly #options: DeploymentMonitorOptions;
  readonly #samples = new Map<string, ReplicaSamples>();
  readonly #latest = new Map<string, DeploymentMetricValues>();
  #databases = new Map<string, DatabaseMetrics>();
  #databasesReadAt = -Infinity;
  readonly #task: PeriodicTask;

  constructor(options: DeploymentMonitorOptions) {
    this.#options = options;
    const { everyMs, logger } = options;
    const run = () => this.sampleDeployments();
    this.#task = new PeriodicTask({ name: 'deployment monitor', everyMs, run, logger });
    this.#report();
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async sampleDeployments(): Promise<void> {
    const { running, samples, autoscaler } = this.#options;
    const deployments = running.byDeployment();
    await this.#readDatabases([...deployments.keys()]);
    this.#forgetAllBut(deployments);
    const taken = await Promise.all(
      [...deployments].map(async ([deploymentId, revisions]) => {
        const reading = await sampleReplicas(revisions);
        const before = this.#samples.get(deploymentId);
        const metrics = computeMetrics(before, reading, this.#databases.get(deploymentId));
        this.#samples.set(deploymentId, reading);
        this.#latest.set(deploymentId, metrics);
        if (!this.#task.isStopped) autoscaler.apply(revisions, metrics, reading.atMs);
        return { deploymentId, takenAt: new Date(reading.atMs), metrics };
      }),
    );
    await samples.insert(taken);
  }

  async #readDatabases(ids: string[]): Promise<void> {
    const { databases, logger } = this.#options;
    if (ids.length === 0 || performance.now() - this.#databasesReadAt < DATABASES_EVERY_MS) return;
    this.#databasesReadAt = performance.now();
    try {
      this.#databases = await databases.readMetrics(ids);
    } catch (error) {
      this.#databases = new Map();
      logger.warn('deployment database sampling failed', { error });
    }
  }

  #forgetAllBut(deployments: Map<string, RunningRevision[]>): void {
    for (const id of this.#samples.keys()) {
      if (deployments.has(id)) continue;
      this.#samples.delete(id);
      this.#latest.delete(id);
    }
  }

  /** Publishes the newest metrics at this service's own `/metrics`. */
  #report(): void {
    const { metrics } = this.#options;
    const gauge = (name: keyof DeploymentMetricValues, help: string) =>
      metrics.gauge(`runyard_deployment_${name}`, help, ['deployment_id'], (each) => {
        each.reset();
        for (const [deployment_id, metrics] of this.#latest) {
          const value = metrics[name];
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
