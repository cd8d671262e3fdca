/** Builds the config with which LangGraph executes a run. */
import type { ExecutionRequest } from '@runyard/host-protocol/graph-process';
import type { GraphConfig } from '../langgraph/graph-types.ts';
import { runMetadata, type ServerDescription } from './run-metadata.ts';

/** LangGraph reads the checkpointer of one invocation from this key; the shared graph object stays unchanged. */
const CHECKPOINTER_KEY = '__pregel_checkpointer';

/** Parts of a run's config that are not in its request. */
export interface RuntimeParts {
  /** True when the attempt goes on from the thread's newest checkpoint instead of where the run began. */
  isResuming: boolean;
  checkpointer: object | undefined;
  store: object;
  /** Handlers, or a callback manager; undefined when there are none. */
  callbacks: object | undefined;
  control: object | undefined;
  signal: AbortSignal;
}

export function toGraphConfig(
  request: ExecutionRequest,
  server: ServerDescription,
  { isResuming, checkpointer, store, callbacks, control, signal }: RuntimeParts,
): GraphConfig {
  const { checkpoint_id, checkpoint_map, ...configurable } = request.config.configurable;
  return {
    configurable: {
      ...configurable,
      ...(!isResuming && checkpoint_id !== undefined && { checkpoint_id }),
      ...(!isResuming && checkpoint_map !== undefined && { checkpoint_map }),
      ...(checkpointer && { [CHECKPOINTER_KEY]: checkpointer }),
    },
    store,
    metadata: runMetadata(request, server),
    runId: request.runId,
    signal,
    durability: request.durability,
    ...(callbacks && { callbacks }),
    ...(control && { control }),
    ...(request.config.tags && { tags: request.config.tags }),
    ...(request.config.recursion_limit !== undefined && { recursionLimit: request.config.recursion_limit }),
    ...(request.config.max_concurrency !== undefined && { maxConcurrency: request.config.max_concurrency }),
    ...(request.config.run_name !== undefined && { runName: request.config.run_name }),
    ...(request.context !== undefined && { context: request.context }),
    ...(request.interruptBefore !== undefined && { interruptBefore: request.interruptBefore }),
    ...(request.interruptAfter !== undefined && { interruptAfter: request.interruptAfter }),
  };
}

/** Returns a config that reads the thread's newest state, wherever the run began. */
export function newestStateConfig({ configurable }: GraphConfig): GraphConfig {
  const { thread_id, [CHECKPOINTER_KEY]: checkpointer } = configurable ?? {};
  return { configurable: { thread_id, checkpoint_ns: '', [CHECKPOINTER_KEY]: checkpointer } };
}
