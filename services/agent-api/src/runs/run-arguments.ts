import type { RunArguments, RunCreateStateful, RunCreateStreamingStateless } from '@runyard/contracts';
import {
  LANGSMITH_BAGGAGE_KEY,
  LANGSMITH_TRACE_KEY,
  TRACEPARENT_KEY,
  TRACESTATE_KEY,
  TRACING_EXAMPLE_KEY,
  TRACING_PROJECT_KEY,
  withoutReservedMetadata,
} from '@runyard/contracts';
import type { AuthUser } from '@runyard/host-protocol';
import { BadRequestError } from '@runyard/service-kit';
import type { LangsmithTrace, TraceContext } from '@runyard/tracing';
import { userArguments } from '../access/user-arguments.ts';
import type { RunAssistant } from '../assistants/assistant-lookup.ts';
import { withoutCheckpointKeys, withoutPlatformKeys } from '../assistants/configurable-keys.ts';

/** The run as a client asks for it: the fields that it may set, whichever way it creates the run. */
export type RunRequest = RunCreateStateful & RunCreateStreamingStateless;

/** The key of `configurable` by which a client wants the run to emit events of the event protocol. */
const EVENT_PROTOCOL_KEY = '__event_streaming_v2';

/** Returns the protocol of events that a request asks for without the protocol's own operations. */
export function requestedProtocol({ config }: Pick<RunRequest, 'config'>): 'v2' | undefined {
  return config?.configurable?.[EVENT_PROTOCOL_KEY] === true ? 'v2' : undefined;
}

export interface RunIdentity {
  runId: string;
  /** Left out for a stateless run, whose thread has no id yet. */
  threadId?: string;
  /** True when the thread of a stateless run is not kept. */
  isTemporary: boolean;
  requestId: string;
  /** The caller's user id; empty when there is none. */
  userId: string;
  /** The project's user who makes the run; left out where the project does not decide about callers. */
  user?: AuthUser | undefined;
  /** Request headers that the project wants in `configurable`; values of the request or the assistant win. */
  headers?: Record<string, string> | undefined;
  /** The tracing project where the request names none; left out when nothing is traced. */
  tracingProject?: string | undefined;
  eventProtocol?: 'v2' | undefined;
  /** The trace that the run continues; left out when it belongs to none. */
  trace?: TraceContext | undefined;
  /** The caller's own LangSmith trace; left out when it names none. */
  langsmithTrace?: LangsmithTrace | undefined;
}

/**
 * Returns the run's arguments as the worker will read them: the request's configuration over the assistant's, with
 * every default filled in.
 *
 * @throws BadRequestError when both `config.configurable` and `context` are given.
 */
export function toRunArguments(request: RunRequest, assistant: RunAssistant, identity: RunIdentity): RunArguments {
  const { configurable, context } = configurationOf(request, assistant);
  return {
    input: request.input ?? null,
    command: request.command ?? null,
    config: {
      ...assistant.config,
      ...request.config,
      configurable: {
        ...withoutPlatformKeys({ ...identity.headers, ...configurable }),
        ...checkpointOf(request),
        ...tracingOf(request, identity.tracingProject),
        ...traceKeys(identity.trace),
        ...langsmithKeys(identity.langsmithTrace),
        run_id: identity.runId,
        ...(identity.threadId !== undefined && { thread_id: identity.threadId }),
        graph_id: assistant.graphId,
        assistant_id: assistant.assistantId,
        ...callerOf(identity, configurable.user_id),
        svc_request_id: identity.requestId,
        langgraph_request_id: identity.requestId,
        ...(request.after_seconds && { __after_seconds__: request.after_seconds }),
      },
      metadata: {
        ...withoutReservedMetadata(asObject(asObject(request.config).metadata)),
        ...buildRunMetadata(request, assistant),
      },
    },
    context,
    stream_mode: streamModes(request.stream_mode),
    ...(identity.eventProtocol && { event_protocol: identity.eventProtocol }),
    interrupt_before: request.interrupt_before ?? null,
    interrupt_after: request.interrupt_after ?? null,
    webhook: request.webhook ?? null,
    feedback_keys: request.feedback_keys?.length ? [...new Set(request.feedback_keys)] : null,
    temporary: identity.isTemporary,
    subgraphs: request.stream_subgraphs ?? false,
    resumable: request.stream_resumable === true || identity.eventProtocol === 'v2',
    ...durabilityOf(request),
  };
}

/** Fills in when checkpoints are stored, in the newer and the older form. */
function durabilityOf(request: RunRequest): Pick<RunArguments, 'durability' | 'checkpoint_during'> {
  const durability = request.durability ?? (request.checkpoint_during === false ? 'exit' : 'async');
  return { durability, checkpoint_during: durability !== 'exit' };
}

/** Returns the metadata of the run: the assistant's, overridden by the caller's, and the platform's own. */
export function buildRunMetadata(request: RunRequest, assistant: RunAssistant): Record<string, unknown> {
  return {
    ...assistant.metadata,
    ...withoutReservedMetadata(request.metadata ?? {}),
    created_by: assistant.isSystem ? 'system' : 'user',
    graph_id: assistant.graphId,
    assistant_id: assistant.assistantId,
  };
}

/** @throws BadRequestError when both `config.configurable` and `context` are given */
export function requireOneConfiguration({ config, context }: Pick<RunRequest, 'config' | 'context'>): void {
  if (!isFilled(config?.configurable) || !isFilled(context)) return;
  throw new BadRequestError(
    'Cannot specify both configurable and context. Prefer setting context alone: it replaces configurable.',
  );
}

/**
 * Makes `configurable` and `context` mirror each other: graphs of either style find what the caller gave in the other.
 */
function configurationOf(request: RunRequest, assistant: RunAssistant) {
  requireOneConfiguration(request);
  const asked = request.config?.configurable;
  const given = isFilled(request.context) ? request.context : { ...asked };
  return {
    configurable: { ...assistant.config.configurable, ...given },
    context: { ...assistant.context, ...withoutCheckpointKeys(withoutPlatformKeys(given)) },
  };
}

/** Returns who makes the run. Nobody passes for another user of the project; only without one may a client name one. */
function callerOf({ user, userId }: RunIdentity, requested: unknown): Record<string, unknown> {
  if (!user) return userId ? { user_id: requested ?? userId } : {};
  return userArguments(user);
}

function checkpointOf(request: RunRequest): Record<string, unknown> {
  const { checkpoint_id, checkpoint_ns, checkpoint_map }: NonNullable<RunRequest['checkpoint']> = {
    checkpoint_id: request.checkpoint_id,
    ...request.checkpoint,
  };
  return {
    ...(checkpoint_id && { checkpoint_id }),
    ...(checkpoint_ns && { checkpoint_ns }),
    // LangGraph looks the root graph up in the map only where its namespace is named.
    ...(checkpoint_map && { checkpoint_map, checkpoint_ns: checkpoint_ns ?? '' }),
  };
}

function tracingOf({ langsmith_tracer: tracer }: RunRequest, project: string | undefined): Record<string, unknown> {
  const { project_name = project, example_id } = tracer ?? {};
  return {
    ...(project_name && { [TRACING_PROJECT_KEY]: project_name }),
    ...(example_id && { [TRACING_EXAMPLE_KEY]: example_id }),
  };
}

function traceKeys(trace: TraceContext | undefined): Record<string, unknown> {
  if (!trace) return {};
  const { traceparent, tracestate } = trace;
  return { [TRACEPARENT_KEY]: traceparent, ...(tracestate !== undefined && { [TRACESTATE_KEY]: tracestate }) };
}

function langsmithKeys(langsmith: LangsmithTrace | undefined): Record<string, unknown> {
  if (!langsmith) return {};
  const { trace, baggage } = langsmith;
  return { [LANGSMITH_TRACE_KEY]: trace, ...(baggage !== undefined && { [LANGSMITH_BAGGAGE_KEY]: baggage }) };
}

function streamModes(asked: RunRequest['stream_mode']): RunArguments['stream_mode'] {
  const modes = asked === undefined ? [] : Array.isArray(asked) ? [...new Set(asked)] : [asked];
  return modes.length > 0 ? modes : ['values'];
}

function isFilled(value: Record<string, unknown> | undefined): value is Record<string, unknown> {
  return value !== undefined && Object.keys(value).length > 0;
}

function asObject(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}
