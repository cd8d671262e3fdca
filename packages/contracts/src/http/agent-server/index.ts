import type { Operation } from '../../operation.ts';
import { A2A_OPERATIONS } from './a2a/operations.ts';
import { AG_UI_OPERATIONS } from './ag-ui.ts';
import { ASSISTANT_GRAPH_OPERATIONS } from './assistant-graphs.ts';
import { ASSISTANT_VERSION_OPERATIONS } from './assistant-versions.ts';
import { ASSISTANT_OPERATIONS } from './assistants.ts';
import { CRON_OPERATIONS } from './cron-operations.ts';
import { EVENT_PROTOCOL_OPERATIONS } from './event-protocol.ts';
import { MCP_OPERATIONS } from './mcp.ts';
import { RUN_CREATION_OPERATIONS } from './run-creation-operations.ts';
import { RUN_FEEDBACK_OPERATIONS } from './run-feedback.ts';
import { RUN_OPERATIONS } from './run-operations.ts';
import { STORE_OPERATIONS } from './store.ts';
import { SYSTEM_OPERATIONS } from './system.ts';
import { THREAD_OPERATIONS } from './thread-operations.ts';
import { THREAD_RETENTION_OPERATIONS } from './thread-retention.ts';
import { THREAD_STATE_OPERATIONS } from './thread-state.ts';
import { THREAD_STREAM_OPERATIONS } from './thread-stream.ts';
import { UI_OPERATIONS } from './ui.ts';
import { WEBHOOK_OPERATIONS } from './webhooks.ts';

/** Every operation of a deployment's agent server. */
export const AGENT_SERVER_OPERATIONS: readonly Operation[] = [
  ...ASSISTANT_OPERATIONS,
  ...ASSISTANT_VERSION_OPERATIONS,
  ...ASSISTANT_GRAPH_OPERATIONS,
  ...THREAD_OPERATIONS,
  ...THREAD_RETENTION_OPERATIONS,
  ...THREAD_STATE_OPERATIONS,
  ...THREAD_STREAM_OPERATIONS,
  ...EVENT_PROTOCOL_OPERATIONS,
  ...RUN_CREATION_OPERATIONS,
  ...RUN_OPERATIONS,
  ...RUN_FEEDBACK_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...CRON_OPERATIONS,
  ...STORE_OPERATIONS,
  ...UI_OPERATIONS,
  ...A2A_OPERATIONS,
  ...AG_UI_OPERATIONS,
  ...MCP_OPERATIONS,
  ...SYSTEM_OPERATIONS,
];

/** The level of the public agent server that this one matches; `/info` and the OpenAPI document report it. */
export const AGENT_SERVER_LEVEL = '0.16.7';

export * from './a2a/index.ts';
export * from './ag-ui.ts';
export * from './assistant-graphs.ts';
export * from './assistant-versions.ts';
export * from './assistants.ts';
export * from './cron-operations.ts';
export * from './crons.ts';
export * from './event-protocol.ts';
export * from './mcp.ts';
export * from './parts.ts';
export * from './run-bodies.ts';
export * from './run-creation-operations.ts';
export * from './run-feedback.ts';
export * from './run-operations.ts';
export * from './runs.ts';
export * from './store.ts';
export * from './system.ts';
export * from './thread-operations.ts';
export * from './thread-retention.ts';
export * from './thread-state.ts';
export * from './thread-stream.ts';
export * from './threads.ts';
export * from './ui.ts';
export * from './webhooks.ts';
