/** What tells where something came from: to tracers and stream clients all of it, with checkpoints what history is searched for. */

import type { RunRequest } from '../types.ts';
import { VERSION } from '../version.ts';

export function runMetadata(request: RunRequest, langgraphVersion: string): Record<string, unknown> {
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
    langgraph_api_url: process.env.LANGGRAPH_API_URL ?? null,
  };
}

/** Kept with every checkpoint of a run: its own metadata and ids, which clients filter histories by. */
export function checkpointMetadata(request: RunRequest): Record<string, unknown> {
  // What a step wrote is told by its stored writes alone.
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
