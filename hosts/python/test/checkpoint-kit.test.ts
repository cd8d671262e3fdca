/**
 * The public conformance kit of LangGraph's checkpoint savers, over the saver of a run: in a real host, whose parent has
 * the Postgres backend of run-workers.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { anyThreadBackend } from '@runyard/checkpointer/any-thread-backend';
import { openCheckpoints, openDeploymentDatabase } from '@runyard/checkpointer/deployment-database';
import { type ExecutionOutcome, startGraphHost } from '@runyard/host-client';
import { packagesOf } from '@runyard/test-kit/python';
import { describe, expect, it } from 'vitest';
import { FOLDER, python } from './python-host.ts';

/** The values that the graph of the fixture ends with. */
interface Report {
  checks: { capability: string; name: string; failure: string | null }[];
  missing: string[];
}

/** Optional capabilities that the saver of a run does not have, with the reasons. */
const MISSING: Record<string, string> = {
  copy_thread: 'A run writes its own thread alone; the API copies threads.',
  delete_for_runs: 'A run writes its own thread alone; a rollback, by the engine, deletes what a run wrote.',
  prune: 'A run writes its own thread alone; the API prunes threads.',
};

async function runKit(): Promise<Report> {
  const database = await openDeploymentDatabase();
  const checkpoints = openCheckpoints(database.pool);
  const host = await startGraphHost({
    configPath: join(FOLDER, 'fixtures/checkpoint-kit/langgraph.json'),
    environment: packagesOf(python),
    onLog: () => {},
  });
  try {
    const [runId, threadId] = [randomUUID(), randomUUID()];
    const run = host.startRun(
      {
        runId,
        threadId,
        assistantId: randomUUID(),
        graphId: 'validate',
        attempt: 1,
        input: {},
        streamModes: ['values'],
        streamSubgraphs: false,
        durability: 'async',
        config: { configurable: { thread_id: threadId, run_id: runId, graph_id: 'validate' } },
      },
      { checkpoints: anyThreadBackend(database.pool, checkpoints), store: { batch: async () => [] } },
      { onEvents: () => {} },
    );
    return reportOf(await run.settled);
  } finally {
    await host.close();
    await checkpoints.close();
    await database.close();
  }
}

function reportOf(outcome: ExecutionOutcome): Report {
  if (outcome.kind !== 'done') throw new Error(`The run of the kit ended otherwise: ${JSON.stringify(outcome)}`);
  return JSON.parse(Buffer.from(outcome.values).toString('utf8'));
}

const { checks, missing } = await runKit();

describe("the saver of a Python run passes LangGraph's public kit", () => {
  it.each(checks.map((check) => [`${check.capability}: ${check.name}`, check] as const))('%s', (_, { failure }) => {
    if (failure !== null) throw new Error(failure);
  });

  it('the saver has every capability that the kit checks, but for the listed ones', () => {
    expect(missing.sort()).toEqual(Object.keys(MISSING).sort());
  });
});
