/**
 * Builds the metadata of a run: all of it for tracers and stream clients, and the part that histories are searched by
 * for checkpoints.
 */
import type { ExecutionRequest } from '@runyard/host-protocol/graph-process';
import { VERSION } from '../version.ts';

/** Describes to clients and tracers the server that executes a run. */
export interface ServerDescription {
  langgraphVersion: string;
  /** The URL of the deployment for clients, null when it has none. */
  publicUrl: string | null;
}

export function runMetadata(
  request: ExecutionRequest,
  { langgraphVersion, publicUrl }: ServerDescription,
): Record<string, unknown> {
  return {
    created_by: 'system',
    ...request.config.metadata,
    assistant_id: request.assistantId,
    graph_id: request.graphId,
    thread_id: request.threadId,
    run_id: request.runId,
    run_attempt: request.attempt,
    langgraph_version: langgraphVersion,
    langgraph_api_version: VERSION,
    langgraph_plan: 'self_hosted',
    langgraph_host: 'self-hosted',
    langgraph_api_url: publicUrl,
  };
}

/**
 * Returns the metadata stored with every checkpoint of a run: its own and the run's ids. Clients filter histories by
 * it.
 */
export function checkpointMetadata(request: ExecutionRequest): Record<string, unknown> {
  // Only the stored writes say what a step wrote.
  const { writes: _writes, ...metadata } = request.config.metadata ?? {};
  return {
    created_by: 'system',
    ...metadata,
    assistant_id: request.assistantId,
    graph_id: request.graphId,
    run_id: request.runId,
    run_attempt: request.attempt,
  };
}
