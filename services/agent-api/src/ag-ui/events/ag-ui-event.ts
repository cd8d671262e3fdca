/** An event of AG-UI, as JSON. The types of `@ag-ui/core` describe what each type has. */
export interface AgUiEvent {
  type: AgUiEventType;
  [field: string]: unknown;
}

/** The types that are sent. Clients before 1.0 know all of them. */
type AgUiEventType =
  | 'RUN_STARTED'
  | 'RUN_FINISHED'
  | 'RUN_ERROR'
  | 'STEP_STARTED'
  | 'STEP_FINISHED'
  | 'TEXT_MESSAGE_START'
  | 'TEXT_MESSAGE_CONTENT'
  | 'TEXT_MESSAGE_END'
  | 'TOOL_CALL_START'
  | 'TOOL_CALL_ARGS'
  | 'TOOL_CALL_END'
  | 'TOOL_CALL_RESULT'
  | 'REASONING_START'
  | 'REASONING_MESSAGE_START'
  | 'REASONING_MESSAGE_CONTENT'
  | 'REASONING_MESSAGE_END'
  | 'REASONING_END'
  | 'STATE_SNAPSHOT'
  | 'STATE_DELTA'
  | 'MESSAGES_SNAPSHOT'
  | 'CUSTOM'
  | 'RAW';

/** The client of a run: what it calls the run, and what it understands. */
export interface AgUiPeer {
  threadId: string;
  runId: string;
  parentRunId?: string | undefined;
  /** True when it knows what came with version 1.0. Clients before that refuse what they do not know. */
  isCurrent: boolean;
  /** True when it wants the events of LangGraph too, as `RAW`. */
  wantsRaw: boolean;
}

/** The version of AG-UI that is spoken with clients that name one. */
export const AG_UI_VERSION = '1.0';

/** Returns whether a client that names this version knows what came with 1.0. */
export function isCurrentVersion(version: string | null | undefined): boolean {
  return version != null && /^[1-9]\d*\.\d+/.test(version);
}
