import { Client, type Endpoint } from './client.ts';
import type { Workload } from './workloads.ts';

export interface LoadOptions {
  endpoint: Endpoint;
  workload: Workload;
  clients: number;
  seconds: number;
}

export interface LoadResult {
  /** Milliseconds of each operation that succeeded. */
  latenciesMs: number[];
  failures: number;
  firstFailure?: string;
  /** Milliseconds until the last operation had ended. */
  elapsedMs: number;
}

/** Runs clients that each begin the next operation when the last one has ended, until the time has passed. */
export async function runClosedLoop({ endpoint, workload, clients, seconds }: LoadOptions): Promise<LoadResult> {
  const client = new Client(endpoint, clients);
  const result: LoadResult = { latenciesMs: [], failures: 0, elapsedMs: 0 };
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const work = async () => {
    while (performance.now() < endsAt) {
      try {
        result.latenciesMs.push(await workload.perform(client));
      } catch (error) {
        result.failures += 1;
        result.firstFailure ??= (error as Error).message;
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  result.elapsedMs = performance.now() - startedAt;
  client.close();
  return result;
}
