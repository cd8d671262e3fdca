import { setTimeout as pause } from 'node:timers/promises';
import type { GraphSummary } from '@runyard/contracts';
import type { PlatformClient } from './platform-client.ts';

/** Graphs that are named one by one: a project may have hundreds. */
const GRAPHS_NAMED = 8;
/** Milliseconds after which graphs are named without what is not known yet: a factory may take its time. */
const MOMENT_MS = 1_000;

/** A graph of the project; only its name is known of one that does not say more, or not in time. */
export type DescribedGraph = Pick<GraphSummary, 'graph_id'> & Partial<GraphSummary>;

/**
 * Asks a deployment what the first of its graphs take, and which tools they call. Never fails: a project may let nobody
 * ask, and may take its time.
 *
 * @param late resolves when no more answers are waited for
 */
export async function describeGraphs(
  client: PlatformClient,
  deploymentId: string,
  graphIds: readonly string[],
  late: Promise<void> = pause(MOMENT_MS, undefined, { ref: false }),
): Promise<DescribedGraph[]> {
  return Promise.all(
    graphIds.slice(0, GRAPHS_NAMED).map(async (graph_id) => {
      const path = `/deployments/${deploymentId}/assistants/${encodeURIComponent(graph_id)}/summary`;
      const asking = client.call<GraphSummary>('GET', path).catch(() => undefined);
      return (await Promise.race([asking, late])) ?? { graph_id };
    }),
  );
}
