import { RunEngine } from '@runyard/run-engine';
import type pg from 'pg';

/** Of a deployment. */
export interface PartServers {
  pool: pg.Pool;
  /** URL of the database that the pool is for. */
  database: string;
  redis: string;
  keyPrefix: string;
}

/** How often parts do what they do again and again. */
export const EVERY_MS = 5;
export const nothing = () => undefined;

export const engineOf = (pool: pg.Pool) => new RunEngine({ pool, deploymentId: 'bench', source: '/bench' });

/** A part whose end has another name. */
export function stoppedBy<Name extends string>(
  part: { start(): unknown } & Record<Name, () => unknown>,
  stop: Name,
): { start(): unknown; stop(): unknown } {
  return { start: () => part.start(), stop: () => part[stop]() };
}
