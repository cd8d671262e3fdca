/** The checkpoint saver of one attempt. */
import { createSaver } from '@runyard/checkpointer/graph-process';
import type { RunRequest } from '../types.ts';
import type { RemoteCheckpoints } from './backends.ts';
import type { LoadedGraph } from './load-graphs.ts';
import { checkpointMetadata } from './run-metadata.ts';

export interface RunSaverOptions {
  request: RunRequest;
  graph: LoadedGraph;
  /** Events wait while a checkpoint is being serialized: its put has to be on the wire before them. */
  outbox: { hold(): void; release(): void };
}

export type RunSaver = ReturnType<typeof createSaver>;

export function createRunSaver(checkpoints: RemoteCheckpoints, options: RunSaverOptions): RunSaver {
  const { request, graph, outbox } = options;
  const saver = createSaver(graph.modules.checkpoint, checkpoints, graph.saverOptions);
  const put = saver.put.bind(saver);
  const ofRun = checkpointMetadata(request);
  saver.put = async (config, checkpoint, metadata, versions) => {
    outbox.hold();
    try {
      return await put(config, checkpoint, { ...ofRun, ...metadata }, versions);
    } finally {
      outbox.release();
    }
  };
  return saver;
}

/**
 * With durability exit a run is kept as a whole, but a subgraph with a checkpointer of its own is kept when it ends. When the run begins
 * again, so does that: what an earlier attempt kept of it is passed over.
 */
export function passOverEarlierAttempts(saver: RunSaver, { runId, attempt }: RunRequest): void {
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
