import { withoutReservedMetadata } from '@runyard/contracts';
import type { AcceptedRun } from '@runyard/run-engine';
import { v7 as uuidv7 } from 'uuid';
import { isRestricted, type Scope } from '../access/scope.ts';
import type { RunAssistant } from '../assistants/assistant-lookup.ts';
import { buildRunMetadata, type RunRequest, toRunArguments } from './run-arguments.ts';

/** The creator of a run and its thread. */
export interface RunOrigin {
  scope: Scope;
  /** Left out for a stateless run. */
  threadId?: string;
  userId: string;
  requestId: string;
  /** Request headers that reach `configurable`. */
  headers?: Record<string, string> | undefined;
  /** The tracing project where the request names none; left out when nothing is traced. */
  tracingProject?: string | undefined;
}

/**
 * Returns what is accepted of a request, as the engine takes it. @throws BadRequestError when both `config.configurable` and `context` are
 * given
 */
export function toAcceptedRun(request: RunRequest, assistant: RunAssistant, origin: RunOrigin): AcceptedRun {
  const runId = uuidv7();
  const isTemporary = origin.threadId === undefined && request.on_completion !== 'keep';
  return {
    runId,
    ...(origin.threadId !== undefined && { threadId: origin.threadId }),
    keepsThread: !isTemporary,
    ...(origin.threadId !== undefined && isRestricted(origin.scope) && { threadScope: origin.scope }),
    ifThreadMissing: [request.if_not_exists, request.on_not_exist].includes('create') ? 'create' : 'reject',
    assistantId: assistant.assistantId,
    graphId: assistant.graphId,
    // The scope finds runs whose thread is not kept.
    metadata: { ...buildRunMetadata(request, assistant), ...origin.scope },
    kwargs: toRunArguments(request, assistant, { ...origin, runId, isTemporary }),
    multitaskStrategy: request.multitask_strategy ?? 'enqueue',
    ...(request.after_seconds !== undefined && { afterSeconds: request.after_seconds }),
    threadMetadata: { ...withoutReservedMetadata(request.metadata ?? {}), ...origin.scope },
  };
}
