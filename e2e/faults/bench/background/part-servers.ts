import { RunEngine } from '@runyard/run-engine';
import type pg from 'pg';

/** The servers of a deployment. */
export interface PartServers {
  pool: pg.Pool;
  /** The URL of the pool's database. */
  database: string;
  redis: string;
  keyPrefix: string;
}

/** Milliseconds between rounds of periodic parts. */
export const EVERY_MS = 5;
export const nothing = () => undefined;

export const engineOf = (pool: pg.Pool) => new RunEngine({ pool, deploymentId: 'bench', source: '/bench' });

/** Adapts a part whose stop has another name. */
export function stoppedBy<Name extends string>(
  part: { start(): unknown } & Record<Name, () => unknown>,
  stop: Name,
): { start(): unknown; stop(): unknown } {
  return { start: () => part.start(), stop: () => part[stop]() };
}
