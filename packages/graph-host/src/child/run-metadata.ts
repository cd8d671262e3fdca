/** What tells tracers and stream clients where a message came from. */

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
