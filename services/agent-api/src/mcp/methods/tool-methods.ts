import { type Logger, NotFoundError } from '@runyard/service-kit';
import type { AssistantService } from '../../assistants/assistant-service.ts';
import { type Fields, isFields } from '../../http/fields.ts';
import type { ProtocolAccess } from '../../protocols/access.ts';
import { type Follower, followerOf, type McpCall, type Outcome, type Peer, value } from '../call.ts';
import type { CallEnd } from '../calls/call-end.ts';
import { CallProgress } from '../calls/call-progress.ts';
import { type CallSources, followCall } from '../calls/follow-call.ts';
import { placeOf, type StatePlace } from '../calls/request-states.ts';
import type { RunsOfRequests } from '../calls/runs-of-requests.ts';
import { type ToolResult, toToolResult } from '../calls/tool-result.ts';
import type { ToolCallRequest, ToolRun, ToolRuns } from '../calls/tool-runs.ts';
import { type McpClient, TASKS_EXTENSION } from '../protocol/client.ts';
import { invalidParams, McpError, missingCapability } from '../protocol/mcp-error.ts';
import { requireParameterHeaders } from '../protocol/parameter-headers.ts';
import { optionalFields, optionalText, requireText } from '../protocol/params.ts';
import { CACHING } from '../protocol/server.ts';
import type { OldConversation } from '../tasks/old-conversation.ts';
import { toNewTask, toOldTask } from '../tasks/task-forms.ts';
import type { ToolTasks } from '../tasks/tool-tasks.ts';
import type { WaitingCalls } from '../tasks/waiting-calls.ts';
import { type Tool, toToolEntry } from '../tools/tool.ts';
import { type ToolCatalogue, unknownTool } from '../tools/tool-catalogue.ts';

export interface ToolMethodsOptions {
  access: ProtocolAccess;
  assistants: Pick<AssistantService, 'find'>;
  catalogue: ToolCatalogue;
  runs: ToolRuns;
  waiting: WaitingCalls;
  conversation: OldConversation;
  requests: RunsOfRequests;
  tasks: ToolTasks;
  sources: CallSources;
  logger: Logger;
}

/** Milliseconds for which calls are kept, for their clients to answer, or to fetch their results. */
export const KEPT_MS = 3_600_000;
const TTL_MS = { minimum: 60_000, maximum: 86_400_000 };
/** Milliseconds within which a call that may become a task is answered with its result. */
const TASK_AFTER_MS = 1_000;
const CANCELLED = 'notifications/cancelled';

/** The methods about tools. */
export class ToolMethods {
  readonly #options: ToolMethodsOptions;

  constructor(options: ToolMethodsOptions) {
    this.#options = options;
  }

  async list({ client, request }: McpCall, params: Fields): Promise<Outcome> {
    const cursor = optionalText(params, 'cursor');
    const { scope } = await this.#options.access.ask(request, { event: 'assistants:search', value: {} });
    return {
      kind: 'later',
      wantsStream: false,
      value: async () => {
        const { tools, nextCursor } = await this.#options.catalogue.list(scope, cursor);
        return {
          tools: tools.map((tool) => toToolEntry(tool, client)),
          ...(nextCursor !== undefined && { nextCursor }),
          ...(client.isNew && CACHING),
        };
      },
    };
  }

  async call(call: McpCall, params: Fields): Promise<Outcome> {
    const args = optionalFields(params, 'arguments') ?? {};
    const context = optionalFields(params, 'context');
    const tool = await this.#requireTool(call, requireText(params, 'name'));
    const asked = { tool, arguments: args, context, progress: progressOf(params) };
    return call.client.isNew ? this.#callNew(call, params, asked) : this.#callOld(call, params, asked);
  }

  /** Cancels a call that the client has made before, to any process, also while it waits for answers. */
  async cancelRequest({ client, request }: Omit<McpCall, 'id'>, { requestId }: Fields): Promise<void> {
    if (client.session === undefined || (typeof requestId !== 'string' && typeof requestId !== 'number')) return;
    const { access, requests, runs, tasks } = this.#options;
    const run = await requests.find(keyOf(client.session, requestId));
    if (!run) return;
    const { scope } = await access.ask(request, {
      event: 'threads:update',
      value: { thread_id: run.threadId, action: 'interrupt' },
    });
    const task = run.taskId === null ? undefined : await tasks.find(scope, run.taskId);
    if (task) await tasks.cancel({ scope, task }, CANCELLED);
    else await runs.cancel(scope, run, CANCELLED);
  }

  async #callNew(call: McpCall, params: Fields, asked: AskedCall): Promise<Outcome> {
    const { client, request } = call;
    const { tool } = asked;
    if (tool.input) requireParameterHeaders(tool.input.schema, asked.arguments, request.headers);
    const becomesTask = client.takesTasks && tool.taskSupport !== 'forbidden';
    if (tool.taskSupport === 'required' && !becomesTask) {
      throw missingCapability({ extensions: { [TASKS_EXTENSION]: {} } });
    }
    const state = optionalText(params, 'requestState');
    const owner = { identity: request.caller.identity, tool: tool.name, arguments: asked.arguments };
    const place = client.asksUser || state !== undefined ? placeOf(owner) : undefined;
    const resumed =
      state === undefined || place === undefined
        ? undefined
        : await this.#options.waiting.resume(call, place, state, optionalFields(params, 'inputResponses') ?? {});
    if (resumed?.kind === 'asks') return value(resumed.result);
    const run =
      resumed?.run ?? (await this.#begin(call, asked, { isTask: client.asksUser || becomesTask, ttlMs: KEPT_MS }));
    if (tool.taskSupport === 'required') return value(taskOf(run));
    return this.#answerNew({ client, run, place, becomesTask, progress: asked.progress });
  }

  /** Nothing of the request is held while the run goes on: its arguments may be large. */
  #answerNew({ client, run, place, becomesTask, progress }: NewCall): Outcome {
    let isHandedOut = false;
    return {
      kind: 'later',
      wantsStream: progress !== undefined,
      onAbandoned: async () => {
        if (isHandedOut) return;
        await this.#options.runs.cancel(run.scope, run, 'the client closed the connection');
      },
      value: async (peer) => {
        const patience = becomesTask ? [AbortSignal.timeout(TASK_AFTER_MS)] : [];
        const signal = AbortSignal.any([peer.closed, ...patience]);
        const onEntry = reporter(progress, peer);
        const followed = await followCall(this.#options.sources, run, { signal, closed: peer.closed, onEntry });
        if (peer.closed.aborted) return undefined;
        const isTask = becomesTask && (!followed || followed.end.kind === 'asks');
        isHandedOut = isTask;
        if (isTask) return taskOf(run, followed ? 'input_required' : 'working');
        if (!followed) return undefined;
        const { end } = followed;
        if (end.kind !== 'asks') return this.#finish(run, end, client);
        if (!client.asksUser) this.#discard(run);
        return this.#options.waiting.ask(client, place, run, end.interrupts);
      },
    };
  }

  async #callOld(call: McpCall, params: Fields, asked: AskedCall): Promise<Outcome> {
    const { client, request } = call;
    const task = optionalFields(params, 'task');
    requireTaskSupport(asked.tool, task);
    const run = await this.#begin(call, asked, {
      isTask: client.asksUser || task !== undefined,
      ttlMs: ttlOf(task),
      ...(!task && { requestKey: requestKeyOf(call) }),
    });
    if (task) return value({ task: oldTaskOf(run) });
    const { assistantId } = asked.tool.assistant;
    return this.#answerOld({ client, request: followerOf(request), run, assistantId, progress: asked.progress });
  }

  /** Nothing of the request is held while the run goes on, as in `#answerNew`. */
  #answerOld({ client, request, run, assistantId, progress }: OldCall): Outcome {
    return {
      kind: 'later',
      wantsStream: client.asksUser || progress !== undefined,
      value: async (peer) => {
        const onEntry = reporter(progress, peer);
        const right = { event: 'threads:create_run', value: { assistant_id: assistantId } } as const;
        const end = await this.#options.conversation.settle({ client, request }, run, peer, { right, onEntry });
        return end && this.#finish(run, end, client);
      },
    };
  }

  async #begin(
    { request }: McpCall,
    { tool, arguments: args, context, progress }: AskedCall,
    how: Pick<ToolCallRequest, 'isTask' | 'requestKey' | 'ttlMs'>,
  ): Promise<ToolRun> {
    const hasProgress = progress !== undefined;
    return this.#options.runs.begin(request, { tool, arguments: args, context, hasProgress, ...how });
  }

  /** @throws McpError for a tool that does not exist, or that the caller may not call */
  async #requireTool({ request }: McpCall, name: string): Promise<Tool> {
    const { access, assistants, catalogue } = this.#options;
    const { scope: shown } = await access.ask(request, { event: 'assistants:search', value: {} });
    const tool = await catalogue.require(shown, name);
    const { assistantId } = tool.assistant;
    const { scope } = await access.ask(request, { event: 'assistants:read', value: { assistant_id: assistantId } });
    await assistants.find(scope, assistantId).catch((error: unknown) => {
      throw error instanceof NotFoundError ? unknownTool() : error;
    });
    return tool;
  }

  /** Returns the result of a call, whose thread is not needed then: unless it alone has the state. */
  #finish(run: ToolRun, end: CallEnd, client: McpClient): ToolResult {
    const result = toToolResult(end, client);
    if (end.kind !== 'too large') this.#discard(run);
    return result;
  }

  /** Nobody waits for it: the thread's time to live removes what is left. */
  #discard(run: ToolRun): void {
    this.#options.runs.discard(run).catch((error: unknown) => {
      this.#options.logger.warn('deleting the thread of a call failed', { error, threadId: run.threadId });
    });
  }
}

interface AskedCall {
  tool: Tool;
  arguments: Fields;
  context: Fields | undefined;
  progress: CallProgress | undefined;
}

/** The parts of a call that its answer needs. */
interface BegunCall {
  client: McpClient;
  run: ToolRun;
  progress: CallProgress | undefined;
}

interface NewCall extends BegunCall {
  /** Undefined for a client that cannot ask its user. */
  place: StatePlace | undefined;
  /** True when the client may be given a task for an answer. */
  becomesTask: boolean;
}

interface OldCall extends BegunCall {
  request: Follower;
  assistantId: string;
}

function reporter(progress: CallProgress | undefined, peer: Peer) {
  if (!progress || !peer.isStream) return undefined;
  return async (entry: Parameters<CallProgress['notificationOf']>[0]) => {
    const notification = progress.notificationOf(entry);
    if (notification) await peer.send(notification);
  };
}

function progressOf({ _meta: meta }: Fields): CallProgress | undefined {
  const token = isFields(meta) ? meta.progressToken : undefined;
  return typeof token === 'string' || typeof token === 'number' ? new CallProgress(token) : undefined;
}

/** Without a session nobody can tell the requests of two clients apart. */
function requestKeyOf({ id, client }: McpCall): string | undefined {
  return client.session === undefined ? undefined : keyOf(client.session, id);
}

/** The key of a request among those of all clients. Numbers and texts are different ids. */
function keyOf(session: string, requestId: string | number): string {
  return `${session} ${JSON.stringify(requestId)}`;
}

/** @throws McpError */
function requireTaskSupport({ name, taskSupport }: Tool, task: Fields | undefined): void {
  const isTask = task !== undefined;
  if (taskSupport === 'required' && !isTask) throw new McpError(-32601, `The tool ${name} is called as a task`);
  if (taskSupport === 'forbidden' && isTask) throw new McpError(-32601, `The tool ${name} cannot be called as a task`);
}

/** @throws McpError */
function ttlOf(task: Fields | undefined): number {
  const ttl = task?.ttl ?? KEPT_MS;
  if (typeof ttl !== 'number' || !Number.isFinite(ttl) || ttl < 0) throw invalidParams('task.ttl must be milliseconds');
  return Math.min(Math.max(ttl, TTL_MS.minimum), TTL_MS.maximum);
}

function taskOf(run: ToolRun, status: 'working' | 'input_required' = 'working'): object {
  return { resultType: 'task', ...toNewTask(asTask(run), status) };
}

function oldTaskOf(run: ToolRun): object {
  return toOldTask(asTask(run), 'working');
}

function asTask({ taskId, createdAt, ttlMs }: ToolRun) {
  return { taskId, createdAt, statusAt: createdAt, ttlMs };
}
