import { withoutReservedMetadata } from '@runyard/contracts';
import type { AuthUser } from '@runyard/host-protocol';
import type { AcceptedRun, RunCreator, ThreadTtl } from '@runyard/run-engine';
import type { LangsmithTrace, TraceContext } from '@runyard/tracing';
import { v7 as uuidv7 } from 'uuid';
import { fieldsOf, isInScope, isRestricted, outOfScope, type Scope, withoutScopeFields } from '../access/scope.ts';
import type { RunAssistant } from '../assistants/assistant-lookup.ts';
import { buildRunMetadata, type RunRequest, requestedProtocol, toRunArguments } from './run-arguments.ts';

/** The creator of a run and its thread. */
export interface RunOrigin {
  /** The threads that the caller may run on. */
  scope: Scope;
  /** The assistants that the caller may run. */
  assistantScope: Scope;
  /** Left out for a stateless run. */
  threadId?: string;
  /** The thread id of a stateless run, where its client chose it. */
  statelessThreadId?: string | undefined;
  /** The run's id, a UUID v7 that is new; left out where nobody has to know it before. */
  runId?: string;
  /** The task, of A2A or MCP, that the run begins or continues. */
  task?: AcceptedRun['task'];
  /** The run that has to be the newest of the thread, as this one answers it; left out where any may be. */
  followsRunId?: string;
  /** The time for which the thread is kept if the run creates it. Default: the deployment's own. */
  threadTtl?: ThreadTtl;
  /** The event of the run names it. It comes from the caller's credential, and from nothing else a client sends. */
  creator: RunCreator;
  userId: string;
  /** The project's user who asks. */
  user?: AuthUser | undefined;
  requestId: string;
  /** Request headers that reach `configurable`. */
  headers?: Record<string, string> | undefined;
  /** The tracing project where the request names none; left out when nothing is traced. */
  tracingProject?: string | undefined;
  /** `v2` when the run is to emit events of the event protocol. */
  eventProtocol?: 'v2';
  /** True when the client streams the run's modes itself: it would get none of a run that emits other events. */
  streamsModes?: boolean;
  /** The trace of the request that creates it; left out when it belongs to none. */
  trace?: TraceContext | undefined;
  /** The caller's own LangSmith trace; left out when it names none. */
  langsmithTrace?: LangsmithTrace | undefined;
}

/** Says whether the project decides about callers. Runs of its own code have no user then either. */
export interface UserPolicy {
  hasUsers: boolean;
}

/**
 * Returns what is accepted of a request, as the engine takes it.
 *
 * @throws BadRequestError when both `config.configurable` and `context` are given; ForbiddenError for a stateless run
 *   that its creator could not see
 */
export function toAcceptedRun(
  request: RunRequest,
  assistant: RunAssistant,
  origin: RunOrigin & UserPolicy,
): AcceptedRun {
  const { scope, threadId, task, threadTtl, creator } = origin;
  const runId = origin.runId ?? uuidv7();
  const eventProtocol = origin.eventProtocol ?? (origin.streamsModes ? undefined : requestedProtocol(request));
  const { graphId, assistantId } = assistant;
  const { threadMetadata, isVisible } = newThreadOf(request.metadata, assistant, scope);
  if (threadId === undefined && !isVisible) throw outOfScope();
  const mayCreate = [request.if_not_exists, request.on_not_exist].includes('create');
  const isTemporary = threadId === undefined && request.on_completion !== 'keep';
  return {
    runId,
    ...(threadId !== undefined && { threadId }),
    ...(origin.statelessThreadId !== undefined && { statelessThreadId: origin.statelessThreadId }),
    keepsThread: !isTemporary,
    ...(threadId !== undefined && isRestricted(scope) && { threadScope: scope }),
    // A thread that its creator could not see is not created.
    ifThreadMissing: mayCreate && isVisible ? 'create' : 'reject',
    assistantId,
    graphId,
    metadata: {
      ...runMetadataOf(request, assistant, { scope, decides: isTemporary && origin.hasUsers }),
      ...(task && { task_id: task.taskId, task_start_id: task.taskId }),
    },
    creator,
    kwargs: toRunArguments(request, assistant, { ...origin, eventProtocol, runId, isTemporary }),
    multitaskStrategy: request.multitask_strategy ?? 'enqueue',
    ...(request.after_seconds !== undefined && { afterSeconds: request.after_seconds }),
    threadMetadata,
    ...(origin.followsRunId !== undefined && { followsRunId: origin.followsRunId }),
    ...(threadTtl && { threadTtl }),
    ...(task && { task }),
  };
}

/** Returns the metadata of a thread that is created for a run, and whether the run's creator sees the thread. */
export function newThreadOf(
  metadata: Record<string, unknown> = {},
  { graphId, assistantId }: RunAssistant,
  scope: Scope,
): { threadMetadata: Record<string, unknown>; isVisible: boolean } {
  const threadMetadata = { ...withoutReservedMetadata(metadata), ...fieldsOf(scope) };
  const isVisible = isInScope({ ...threadMetadata, graph_id: graphId, assistant_id: assistantId }, scope);
  return { threadMetadata, isVisible };
}

/**
 * Returns the metadata of a run. Where they decide who sees it, because its thread is not kept, they have none of the
 * assistant's: filters of other users may name any field.
 */
function runMetadataOf(
  request: RunRequest,
  assistant: RunAssistant,
  { scope, decides }: { scope: Scope; decides: boolean },
): Record<string, unknown> {
  const metadata = decides ? {} : withoutScopeFields(assistant.metadata, scope);
  return { ...buildRunMetadata(request, { ...assistant, metadata }), ...fieldsOf(scope) };
}
