/** Starts a host over a fixture project, and runs graphs on it. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  type ExecutionOutcome,
  type GraphBackends,
  type GraphHost,
  type GraphHostOptions,
  type RunEvent,
  type RunHandle,
  startGraphHost,
} from '@runyard/host-client';
import type { ExecutionRequest, HostLog, RunSpan, RunUsage } from '@runyard/host-protocol';
import { MemoryCheckpoints, MemoryStore } from './memory-backends.ts';

export const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

export interface HostUnderTest extends GraphHost {
  logs: HostLog[];
  exits: string[];
  /** Resolves with the next log line that `isIt` accepts. */
  nextLog(isIt: (line: HostLog) => boolean): Promise<HostLog>;
}

export async function startHost(project = 'basic', options: Partial<GraphHostOptions> = {}): Promise<HostUnderTest> {
  const logs: HostLog[] = [];
  const exits: string[] = [];
  const lookouts = new Set<(line: HostLog) => void>();
  const nextLog = (isIt: (line: HostLog) => boolean) =>
    new Promise<HostLog>((resolve) => {
      const look = (line: HostLog) => {
        if (!isIt(line)) return;
        lookouts.delete(look);
        resolve(line);
      };
      lookouts.add(look);
    });
  const host = await startGraphHost({
    configPath: `${fixtures}${project}/langgraph.json`,
    environment: {},
    onLog: (line) => {
      logs.push(line);
      for (const look of [...lookouts]) look(line);
    },
    onExit: (reason) => exits.push(reason),
    ...options,
  });
  // Tests look into states, where services pass texts on.
  const parsed = <T>(state: T): T => JSON.parse(JSON.stringify(state));
  const getState: GraphHost['getState'] = host.getState.bind(host);
  const getHistory: GraphHost['getHistory'] = host.getHistory.bind(host);
  return Object.assign(host, {
    logs,
    exits,
    nextLog,
    getState: async (...about: Parameters<GraphHost['getState']>) => parsed(await getState(...about)),
    getHistory: async (...about: Parameters<GraphHost['getHistory']>) => parsed(await getHistory(...about)),
  });
}

export type TestBackends = GraphBackends & { checkpoints: MemoryCheckpoints; store: MemoryStore };

export function memoryBackends(): TestBackends {
  return { checkpoints: new MemoryCheckpoints(), store: new MemoryStore() };
}

export function executionRequest(graphId: string, request: Partial<ExecutionRequest> = {}): ExecutionRequest {
  const threadId = request.threadId ?? randomUUID();
  const runId = request.runId ?? randomUUID();
  return {
    runId,
    threadId,
    assistantId: '00000000-0000-5000-8000-000000000001',
    graphId,
    attempt: 1,
    streamModes: ['values'],
    streamSubgraphs: false,
    durability: 'async',
    ...request,
    config: {
      ...request.config,
      configurable: { thread_id: threadId, run_id: runId, graph_id: graphId, ...request.config?.configurable },
    },
  };
}

export interface FinishedRun {
  outcome: ExecutionOutcome;
  events: { event: string; data: unknown }[];
  spans: RunSpan[];
  /** Its reports of what it has used. */
  usage: RunUsage[];
  /** The final values, parsed. */
  values: Record<string, unknown> | null;
}

export function startRun(
  host: GraphHost,
  request: ExecutionRequest,
  backends: GraphBackends = memoryBackends(),
): RunHandle & { events: RunEvent[]; spans: RunSpan[]; usage: RunUsage[] } {
  const events: RunEvent[] = [];
  const spans: RunSpan[] = [];
  const usage: RunUsage[] = [];
  const { checkpoints } = backends;
  const ofRun = checkpoints instanceof MemoryCheckpoints ? checkpoints.ofRun(request.runId) : checkpoints;
  const handle = host.startRun(
    request,
    { ...backends, ...(ofRun && { checkpoints: ofRun }) },
    {
      onEvents: (batch) => {
        events.push(...batch);
      },
      onSpans: (batch) => void spans.push(...batch),
      onUsage: (reported) => void usage.push(reported),
    },
  );
  const { settled, stopped } = handle;
  return {
    events,
    spans,
    usage,
    settled,
    stopped,
    abort: (reason) => handle.abort(reason),
    drain: () => handle.drain(),
  };
}

export async function runToEnd(
  host: GraphHost,
  request: ExecutionRequest,
  backends?: GraphBackends,
): Promise<FinishedRun> {
  const run = startRun(host, request, backends);
  const outcome = await run.settled;
  const bytes = 'values' in outcome ? outcome.values : null;
  return {
    outcome,
    spans: run.spans,
    usage: run.usage,
    events: run.events.map(({ event, data }) => ({ event, data: JSON.parse(data) })),
    values: bytes === null ? null : JSON.parse(Buffer.from(bytes).toString('utf8')),
  };
}
