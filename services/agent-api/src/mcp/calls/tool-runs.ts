import type { RunEngine } from '@runyard/run-engine';
import { appendEnd, CONTROL_KINDS, type RunStreams } from '@runyard/run-stream';
import { ConflictError, type HandlerRequest, NotFoundError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { ToolTask } from '../../a2a/tasks/task-store.ts';
import { type Scope, UNRESTRICTED } from '../../access/scope.ts';
import { type Fields, isFields } from '../../http/fields.ts';
import type { ProtocolAccess } from '../../protocols/access.ts';
import { askAboutRun, type RunQuestion } from '../../protocols/ask-about-run.ts';
import type { RunOrigin } from '../../runs/accepted-run.ts';
import type { RunRequest } from '../../runs/run-arguments.ts';
import type { RunService } from '../../runs/run-service.ts';
import type { ThreadService } from '../../threads/thread-service.ts';
import { invalidParams } from '../protocol/mcp-error.ts';
import { toGraphInput } from '../tools/input-schema.ts';
import type { Tool } from '../tools/tool.ts';
import { CUSTOM_MODE, STEP_MODE } from './call-progress.ts';

export interface ToolRunsOptions {
  access: ProtocolAccess;
  engine: Pick<RunEngine, 'currentEpoch' | 'findRuns'>;
  runs: Pick<RunService, 'cancel' | 'create'>;
  streams: Pick<RunStreams, 'append'>;
  threads: Pick<ThreadService, 'delete'>;
}

type Requester = Pick<HandlerRequest, 'caller' | 'headers' | 'res'>;

/** The request of a client to a tool. */
export interface ToolCallRequest {
  tool: Tool;
  arguments: Fields;
  context: Fields | undefined;
  /** True when steps are reported. */
  hasProgress: boolean;
  /** True when the call may wait for answers, or become a task. */
  isTask: boolean;
  /** Milliseconds for which its thread is kept, unless the call is discarded before. */
  ttlMs: number;
  /** Names the request among those of its client; undefined when nobody can cancel it by that. */
  requestKey?: string | undefined;
}

/** The run of a call. */
export interface ToolRun {
  scope: Scope;
  threadId: string;
  runId: string;
  /** The first run of the call. */
  taskId: string;
  createdAt: string;
  ttlMs: number;
}

const MS_PER_MINUTE = 60_000;

/** Makes and ends the runs of calls, as the project lets the caller. */
export class ToolRuns {
  readonly #options: ToolRunsOptions;

  constructor(options: ToolRunsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the run is durable. Each has a thread, also for clients that cannot answer: a graph that has no
   * checkpoints fails where it asks. @throws ForbiddenError, McpError, and what `RunService.create` throws
   */
  async begin(requester: Requester, call: ToolCallRequest): Promise<ToolRun> {
    const { tool, isTask, ttlMs, requestKey } = call;
    const { assistantId } = tool.assistant;
    const { origin, run } = await this.#ask(requester, {
      threadId: null,
      run: {
        assistant_id: assistantId,
        input: toGraphInput(call.arguments, tool.input),
        ...(call.context && { context: call.context }),
      },
    });
    const runId = uuidv7();
    const thread: Pick<RunOrigin, 'threadId' | 'threadTtl'> = {
      threadId: uuidv7(),
      threadTtl: { strategy: 'delete', minutes: ttlMs / MS_PER_MINUTE },
    };
    const { record, threadId } = await this.#options.runs.create(
      { ...origin, ...thread, runId, ...(isTask && { task: { taskId: runId, pushConfigs: [] } }) },
      {
        ...run,
        if_not_exists: 'create',
        stream_mode: call.hasProgress ? [STEP_MODE, CUSTOM_MODE] : [CUSTOM_MODE],
        metadata: {
          ...run.metadata,
          mcp_tool: tool.name,
          ...(isTask && { mcp_ttl_ms: ttlMs }),
          ...(requestKey !== undefined && { mcp_request: requestKey }),
        },
      },
    );
    const createdAt = record.createdAt.toISOString();
    return { scope: origin.scope, threadId, runId, taskId: runId, createdAt, ttlMs };
  }

  /**
   * Resumes a task with the answers to what it asked. Returns undefined when somebody else was faster: of two answers
   * at once one counts. @throws as `begin`
   */
  async resume(requester: Requester, task: ToolTask, resume: unknown): Promise<ToolRun | undefined> {
    const { assistantId, contextId: threadId, taskId, runId: followsRunId, createdAt, ttlMs } = task;
    const [first] = await this.#options.engine.findRuns([taskId]);
    const { context, stream_mode: streamMode } = first?.kwargs ?? {};
    const { origin, run } = await this.#ask(requester, {
      threadId,
      run: {
        assistant_id: assistantId,
        command: { resume } as RunRequest['command'],
        multitask_strategy: 'reject',
        ...(isFields(context) && Object.keys(context).length > 0 && { context }),
      },
    });
    const request = first?.metadata.mcp_request;
    const runId = uuidv7();
    try {
      await this.#options.runs.create(
        // The answer is to what this run asked: a later one may ask something else.
        { ...origin, threadId, runId, followsRunId, task: { taskId, pushConfigs: [] } },
        {
          ...run,
          stream_mode: streamMode as [typeof CUSTOM_MODE],
          metadata: { ...run.metadata, ...(request !== undefined && { mcp_request: request }) },
        },
      );
    } catch (error) {
      if (error instanceof ConflictError) return undefined;
      if (error instanceof NotFoundError) throw invalidParams('The task does not exist any more');
      throw error;
    }
    return { scope: origin.scope, threadId, runId, taskId, createdAt, ttlMs };
  }

  /** Orders the end of a run that is in flight. Returns false for others, to which it does nothing. */
  async cancel(
    scope: Scope,
    { threadId, runId }: Pick<ToolRun, 'threadId' | 'runId'>,
    reason: string,
  ): Promise<boolean> {
    const selection = { threadId, runIds: [runId] };
    const ordered = await this.#options.runs.cancel(scope, selection, 'interrupt', reason).catch(ignoreNotFound);
    return ordered !== undefined;
  }

  /** Deletes the thread of a call that has ended. */
  async discard({ threadId }: Pick<ToolRun, 'threadId'>): Promise<void> {
    await this.#options.threads.delete(UNRESTRICTED, threadId).catch(ignoreNotFound);
  }

  /** Tells whoever waits for another run of the call that there is none. */
  async publishEnd({ contextId: threadId, runId }: Pick<ToolTask, 'contextId' | 'runId'>): Promise<void> {
    const { engine, streams } = this.#options;
    const currentEpoch = (thread: string) => engine.currentEpoch(thread);
    const epoch = await currentEpoch(threadId);
    if (epoch === undefined) return;
    const end = { runId, attempt: 1, kind: CONTROL_KINDS.end, event: 'end', data: '{"status":"interrupted"}' };
    await appendEnd({ streams, currentEpoch }, { fence: { threadId, epoch }, isResumable: false }, [end]);
  }

  async #ask(requester: Requester, question: RunQuestion) {
    const { access } = this.#options;
    const { scope, run } = await askAboutRun((asked) => access.ask(requester, asked), question);
    return { origin: { ...access.creatorOf(requester), scope, assistantScope: UNRESTRICTED }, run };
  }
}

/** It has ended, or was deleted, meanwhile. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof NotFoundError)) throw error;
}
