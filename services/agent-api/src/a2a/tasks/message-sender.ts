import { type A2aMessage, isUuid } from '@runyard/contracts';
import type { PushConfig } from '@runyard/run-engine';
import { ConflictError, NotFoundError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Scope } from '../../access/scope.ts';
import type { AssistantRecord } from '../../assistants/assistant-record.ts';
import type { Fields } from '../../http/fields.ts';
import type { RunOrigin } from '../../runs/accepted-run.ts';
import type { RunRequest } from '../../runs/run-arguments.ts';
import type { RunService } from '../../runs/run-service.ts';
import { A2aError, invalidParams } from '../protocol/a2a-error.ts';
import type { A2aVersion } from '../protocol/versions.ts';
import { mediaTypesOf, requireAcceptable, requireAccepted } from './media-types.ts';
import { answerOf, inputOf, isAnswer } from './message-input.ts';
import type { MessageSupport } from './message-support.ts';
import type { SendRequest } from './send-request.ts';
import { TASK_STREAM_MODE } from './task-events.ts';
import type { TaskReader } from './task-reader.ts';
import { isTerminal, isWaiting, type TaskRecord } from './task-record.ts';
import type { TaskStore } from './task-store.ts';

export interface MessageSenderOptions {
  runs: Pick<RunService, 'create'>;
  tasks: Pick<TaskStore, 'findWaiting'>;
  reader: Pick<TaskReader, 'require'>;
  support: Pick<MessageSupport, 'requireMessages'>;
  /** Checks the push notification configuration of a message. */
  acceptPush(fields: Fields, about: { taskId: string; version: A2aVersion }): Promise<Omit<PushConfig, 'threadId'>>;
}

/** The sender of a message, and what it may see. */
export interface Sender {
  /** Tasks that the sender may see and answer. */
  readScope: Scope;
  origin: Omit<RunOrigin, 'threadId' | 'runId' | 'task'>;
  /** Metadata of the run, and of a thread that it creates. */
  metadata: Record<string, unknown>;
  version: A2aVersion;
}

/** Sends messages to assistants: each is a run, which begins a task or continues one. */
export class MessageSender {
  readonly #options: MessageSenderOptions;

  constructor(options: MessageSenderOptions) {
    this.#options = options;
  }

  /** Resolves with the task when its run is durable. @throws A2aError, and what `RunService.create` throws */
  async send(sender: Sender, assistant: AssistantRecord, request: SendRequest): Promise<TaskRecord> {
    const media = mediaTypesOf(assistant.metadata);
    requireAccepted(request.message.parts, media);
    requireAcceptable(request.acceptedOutputModes, media);
    const waiting = await this.#findWaiting(sender.readScope, assistant, request);
    return waiting ? this.#answer(sender, assistant, request, waiting) : this.#begin(sender, assistant, request);
  }

  /** Returns the task that the message answers; undefined for the first message of a task. @throws A2aError */
  async #findWaiting(
    scope: Scope,
    { assistantId }: AssistantRecord,
    { message, command }: SendRequest,
  ): Promise<TaskRecord | undefined> {
    const { taskId, contextId } = message;
    if (taskId !== undefined) {
      const task = await this.#options.reader.require(scope, assistantId, taskId);
      requireOwnContext(message, task);
      requireWaiting(task);
      return task;
    }
    if (command === undefined && !isAnswer(message)) return undefined;
    const task = isUuid(contextId) ? await this.#options.tasks.findWaiting(scope, assistantId, contextId) : undefined;
    if (!task) throw new A2aError('UNSUPPORTED_OPERATION', 'No task of this context waits for input');
    return task;
  }

  async #begin(sender: Sender, assistant: AssistantRecord, request: SendRequest): Promise<TaskRecord> {
    const { message } = request;
    const threadId = message.contextId?.toLowerCase() ?? uuidv7();
    if (!isUuid(threadId)) throw invalidParams('message.contextId', 'must be a UUID');
    const runId = uuidv7();
    const { input, hasMessage } = inputOf(message, runId);
    if (hasMessage) await this.#options.support.requireMessages(assistant);
    return this.#create(
      sender,
      { assistant, request, threadId, runId, taskId: runId },
      {
        input,
        if_not_exists: 'create',
      },
    );
  }

  async #answer(
    sender: Sender,
    assistant: AssistantRecord,
    request: SendRequest,
    { taskId, contextId: threadId, runId: followsRunId }: TaskRecord,
  ): Promise<TaskRecord> {
    const command = request.command ?? { resume: answerOf(request.message) };
    try {
      return await this.#create(
        sender,
        { assistant, request, threadId, runId: uuidv7(), taskId, followsRunId },
        {
          command: command as RunRequest['command'],
          // One of two answers at once counts.
          multitask_strategy: 'reject',
        },
      );
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      throw new A2aError('UNSUPPORTED_OPERATION', `Task ${taskId} does not wait for input any more`);
    }
  }

  async #create(
    { origin, metadata, version }: Sender,
    run: {
      assistant: AssistantRecord;
      request: SendRequest;
      threadId: string;
      runId: string;
      taskId: string;
      followsRunId?: string;
    },
    what: Partial<RunRequest>,
  ): Promise<TaskRecord> {
    const { assistant, request, threadId, runId, taskId, followsRunId } = run;
    const pushConfigs = request.pushConfig
      ? [await this.#options.acceptPush(request.pushConfig, { taskId, version })]
      : [];
    const { record } = await this.#options.runs
      .create(
        { ...origin, threadId, runId, ...(followsRunId && { followsRunId }), task: { taskId, pushConfigs } },
        {
          ...what,
          assistant_id: assistant.assistantId,
          metadata,
          stream_mode: [TASK_STREAM_MODE],
          ...(request.context && { context: request.context }),
        },
      )
      .catch((error: unknown) => {
        if (!(error instanceof NotFoundError)) throw error;
        throw invalidParams('message.contextId', 'names no context of yours');
      });
    return {
      taskId,
      contextId: threadId,
      runId,
      state: 'TASK_STATE_SUBMITTED',
      statusAt: record.createdAt.toISOString(),
      error: null,
      isNewest: true,
    };
  }
}

/** @throws A2aError when the message names another context than that of its task */
function requireOwnContext({ contextId }: A2aMessage, task: TaskRecord): void {
  if (contextId === undefined || contextId.toLowerCase() === task.contextId) return;
  throw invalidParams('message.contextId', `is not the context of task ${task.taskId}`);
}

/** @throws A2aError */
function requireWaiting(task: TaskRecord): void {
  if (isWaiting(task)) return;
  const why = isTerminal(task) ? 'has ended' : 'is working: it takes a message when it needs input';
  throw new A2aError('UNSUPPORTED_OPERATION', `Task ${task.taskId} ${why}`);
}
