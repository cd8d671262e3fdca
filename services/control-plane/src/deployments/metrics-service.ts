import type { DeploymentMetrics, DeploymentMetricsPoint } from '@runyard/contracts';
import { CombinedSamples } from '@runyard/deployments';
import { parseRequestTime } from '@runyard/revision-logs';
import { InvalidFieldError, type Principal, tenantOf } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { deploymentStore } from '../revisions/deployment-store.ts';
import type { SampleStore } from './sample-store.ts';

const DEFAULT_WINDOW_MS = 15 * 60_000;
/** A dashboard has hardly more pixels to draw them. */
const POINTS_MAX = 500;

/** Reads a deployment's metrics for callers. */
export class MetricsService {
  readonly #database: Database;
  readonly #samples: SampleStore;
  readonly #everyMs: number;

  constructor(options: { database: Database; samples: SampleStore; everyMs: number }) {
    this.#database = options.database;
    this.#samples = options.samples;
    this.#everyMs = options.everyMs;
  }

  async read(
    caller: Principal,
    deploymentId: string,
    query: { start_time?: string; end_time?: string },
  ): Promise<DeploymentMetrics> {
    await deploymentStore.get(this.#database.prisma, tenantOf(caller), deploymentId);
    const { start_time, end_time } = query;
    const toMs = end_time === undefined ? Date.now() : parseRequestTime(end_time, ['query', 'end_time']);
    const fromMs =
      start_time === undefined ? toMs - DEFAULT_WINDOW_MS : parseRequestTime(start_time, ['query', 'start_time']);
    if (fromMs > toMs) throw new InvalidFieldError(['query', 'start_time'], 'Value must not be after end_time');
    const stepMs = Math.max(Math.ceil((toMs - fromMs) / POINTS_MAX / this.#everyMs), 1) * this.#everyMs;
    const combined = new CombinedSamples(stepMs);
    for await (const page of this.#samples.between(deploymentId, new Date(fromMs), new Date(toMs))) {
      for (const sample of page) combined.add(sample);
    }
    return {
      start_time: new Date(fromMs).toISOString(),
      end_time: new Date(toMs).toISOString(),
      step_seconds: Math.round(stepMs / 1000),
      points: combined
        .all()
        .map(({ takenAt, metrics }): DeploymentMetricsPoint => ({ time: takenAt.toISOString(), ...metrics })),
    };
  }
}
