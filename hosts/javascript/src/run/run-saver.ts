/** Creates the checkpoint saver of one attempt. */
import { createSaver } from '@runyard/checkpointer/graph-process';
import type { ExecutionRequest } from '@runyard/host-protocol/graph-process';
import type { LoadedGraph } from '../loading/load-graphs.ts';
import type { RemoteCheckpoints } from '../storage/backends.ts';
import { checkpointMetadata } from './run-metadata.ts';

export interface RunSaverOptions {
  request: ExecutionRequest;
  graph: LoadedGraph;
  /** Holds events while a checkpoint is being serialized: its put must be sent before them. */
  eventBuffer: { hold(): void; release(): void };
}

export type RunSaver = ReturnType<typeof createSaver>;

export function createRunSaver(checkpoints: RemoteCheckpoints, options: RunSaverOptions): RunSaver {
  const { request, graph, eventBuffer } = options;
  const saver = createSaver(graph.modules.checkpoint, checkpoints, graph.saverOptions);
  const put = saver.put.bind(saver);
  const ofRun = checkpointMetadata(request);
  saver.put = async (config, checkpoint, metadata, versions) => {
    eventBuffer.hold();
    try {
      return await put(config, checkpoint, { ...ofRun, ...metadata }, versions);
    } finally {
      eventBuffer.release();
    }
  };
  return saver;
}

/**
 * Skips checkpoints of the run's earlier attempts. With durability exit, a run's checkpoints are stored when it ends,
 * but those of a subgraph with its own checkpointer when the subgraph ends. When the run begins again, so does the
 * subgraph.
 */
export function skipEarlierAttempts(saver: RunSaver, { runId, attempt }: ExecutionRequest): void {
  const getTuple = saver.getTuple.bind(saver);
  saver.getTuple = async (config) => {
    let tuple = await getTuple(config);
    while (tuple) {
      const { run_id, run_attempt } = tuple.metadata as { run_id?: string; run_attempt?: number };
      if (run_id !== runId || run_attempt === attempt) return tuple;
      tuple = tuple.parentConfig && (await getTuple(tuple.parentConfig));
    }
    return undefined;
  };
}
