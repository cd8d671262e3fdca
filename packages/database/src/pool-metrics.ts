import type { Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import { type PoolStats, readPoolStats } from './pool.ts';

/** Reports the use of the pool in the process's metrics. */
export function reportPoolMetrics(pool: pg.Pool, metrics: Metrics): void {
  metrics.gauge('postgres_pool', 'Connections of the pool, and callers waiting for one.', ['state'], (gauge) => {
    const { open, idle, waiting, max } = readPoolStats(pool);
    gauge.set({ state: 'busy' }, open - idle);
    gauge.set({ state: 'idle' }, idle);
    gauge.set({ state: 'waiting' }, waiting);
    gauge.set({ state: 'max' }, max);
  });
}

/** Reports the use of all pools of a process together, under the names that operators of agent servers know. */
export function reportDeploymentPoolMetrics(pools: readonly pg.Pool[], metrics: Metrics): void {
  const sumOf = (value: (use: PoolStats) => number) => pools.reduce((sum, pool) => sum + value(readPoolStats(pool)), 0);
  const gauge = (name: string, help: string, value: (use: PoolStats) => number) =>
    metrics.gauge(`lg_api_pg_pool_${name}`, help, [], (each) => each.set(sumOf(value)));
  gauge('max', 'Connections to Postgres at most.', (use) => use.max);
  gauge('size', 'Connections to Postgres.', (use) => use.open);
  gauge('available', 'Idle connections to Postgres.', (use) => use.idle);
  gauge('waiting', 'Callers that wait for a connection.', (use) => use.waiting);
  const counter = (name: string, help: string, value: (use: PoolStats) => number) =>
    metrics.collectCounter(`lg_api_pg_pool_requests_${name}_total`, help, () => sumOf(value));
  counter('queued', 'Callers that had to wait for a connection.', (use) => use.queued);
  counter('errors', 'Callers that got no connection.', (use) => use.failed);
}
