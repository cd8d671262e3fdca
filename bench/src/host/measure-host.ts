import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type GraphBackends, type GraphHost, startGraphHost } from '@runyard/host-client';
import type { BenchProject } from '../targets/projects.ts';

const EVENTS = { count: 20_000, bytes: 100 };
/** Runs at a time that each block a thread for so long, one after another `rounds` times. */
const BLOCKED = { runs: 30, ms: 200, rounds: 5 };
/** Seconds in which a host that was just started comes to rest. */
const SETTLING_SECONDS = 3;

/** The numbers of one graph host, without a database behind it. */
export interface HostMeasurement {
  /** From the start of the process until its graphs can run. */
  readySeconds: number;
  /** Resident memory once nothing has been asked of it for some seconds, in millions of bytes. */
  idleMegabytes: number;
  /** Custom events of one run that arrived at its parent, per second. */
  eventsPerSecond: number;
  /** Runs per second, of many at a time that each block their thread. */
  blockedRunsPerSecond: number;
}

/** Starts a graph host on the project and measures it from the side of its parent. */
export async function measureHost({ folder, environment }: BenchProject): Promise<HostMeasurement> {
  const begun = performance.now();
  const host = await startGraphHost({
    configPath: join(folder, 'langgraph.json'),
    environment: { PATH: process.env.PATH ?? '', ...environment },
    onLog: ({ level, message }) => level === 'error' && process.stderr.write(`${message}\n`),
  });
  try {
    const readySeconds = (performance.now() - begun) / 1000;
    await pause(SETTLING_SECONDS * 1000);
    const idleMegabytes = await residentMegabytes(host.pid);
    // The first run imports what only runs need.
    await run(host, 'emit', { events: 1, bytes: 1 });
    return {
      readySeconds,
      idleMegabytes,
      eventsPerSecond: await countEvents(host),
      blockedRunsPerSecond: await countBlockedRuns(host),
    };
  } finally {
    await host.close(0);
  }
}

async function countEvents(host: GraphHost): Promise<number> {
  const begun = performance.now();
  const events = await run(host, 'emit', { events: EVENTS.count, bytes: EVENTS.bytes });
  if (events !== EVENTS.count) throw new Error(`${events} of ${EVENTS.count} events arrived`);
  return perSecond(events, begun);
}

async function countBlockedRuns(host: GraphHost): Promise<number> {
  const begun = performance.now();
  const client = async () => {
    for (let round = 0; round < BLOCKED.rounds; round += 1) await run(host, 'block', { blockMs: BLOCKED.ms });
  };
  await Promise.all(Array.from({ length: BLOCKED.runs }, client));
  return perSecond(BLOCKED.runs * BLOCKED.rounds, begun);
}

const perSecond = (count: number, begun: number) => (count * 1000) / (performance.now() - begun);

/** Returns the number of events of the run. @throws Error when it does not end well */
async function run(host: GraphHost, graphId: string, input: object): Promise<number> {
  let events = 0;
  const [runId, threadId, assistantId] = [randomUUID(), randomUUID(), randomUUID()];
  const request: Parameters<GraphHost['startRun']>[0] = {
    runId,
    threadId,
    assistantId,
    graphId,
    attempt: 1,
    input,
    config: { configurable: { run_id: runId, thread_id: threadId, assistant_id: assistantId, graph_id: graphId } },
    streamModes: ['custom'],
    streamSubgraphs: false,
    durability: 'async',
  };
  const onEvents = (batch: unknown[]) => {
    events += batch.length;
  };
  const outcome = await host.startRun(request, WITHOUT_STORAGE, { onEvents }).settled;
  if (outcome.kind !== 'done') throw new Error(`the run of ${graphId} did not end well: ${JSON.stringify(outcome)}`);
  return events;
}

/** The graphs that are run here store nothing. */
const WITHOUT_STORAGE: GraphBackends = {
  store: { batch: () => Promise.reject(new Error('there is no store')) },
};

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024) / 1e6;
}
