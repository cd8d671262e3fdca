import { type A2aMessage, isUuid } from '@runyard/contracts';
import type { PushConfig } from '@runyard/run-engine';
import { ConflictError, NotFoundError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { type Scope, UNRESTRICTED } from '../../access/scope.ts';
import type { AssistantRecord } from '../../assistants/assistant-record.ts';
import type { InputKeys } from '../../assistants/input-keys.ts';
import type { Fields } from '../../http/fields.ts';
import type { AskedRun, RunQuestion } from '../../protocols/ask-about-run.ts';
import type { RunOrigin } from '../../runs/accepted-run.ts';
import type { RunRequest } from '../../runs/run-arguments.ts';
import type { RunService } from '../../runs/run-service.ts';
import { A2aError, invalidParams } from '../protocol/a2a-error.ts';
import type { A2aVersion } from '../protocol/versions.ts';
import { mediaTypesOf, requireAcceptable, requireAccepted } from './media-types.ts';
import { answerOf, inputOf, isAnswer } from './message-input.ts';
import type { SendRequest } from './send-request.ts';
import { TASK_STREAM_MODE } from './task-events.ts';
import type { TaskReader } from './task-reader.ts';
import { isTerminal, isWaiting, type TaskRecord } from './task-record.ts';
import type { TaskStore } from './task-store.ts';

export interface MessageSenderOptions {
  runs: Pick<RunService, 'create'>;
  tasks: Pick<TaskStore, 'findWaiting'>;
  reader: Pick<TaskReader, 'require'>;
  inputKeys: Pick<InputKeys, 'of'>;
  /** Checks the push notification configuration of a message. */
  acceptPush(fields: Fields, about: { taskId: string; version: A2aVersion }): Promise<Omit<PushConfig, 'threadId'>>;
}

/** The sender of a message. */
export interface Sender {
  /** Its scope is that of the threads that the sender may run on. */
  origin: Omit<RunOrigin, 'threadId' | 'runId' | 'task'>;
  version: A2aVersion;
}

/** The run that a message asks for, on a thread that its sender may turn out not to see. */
export interface MessagePlan extends RunQuestion {
  request: SendRequest;
  runId: string;
}

/** Sends messages to assistants: each is a run, which begins a task or continues one. */
export class MessageSender {
  readonly #options: MessageSenderOptions;

  constructor(options: MessageSenderOptions) {
    this.#options = options;
  }

  /**
   * Returns the run that a message asks for: the project is asked about it before its sender learns anything of the
   * task. @throws A2aError when the message cannot be one for the assistant, or names a task that does not exist
   */
  async plan(assistant: AssistantRecord, request: SendRequest): Promise<MessagePlan> {
    const { message, context, command } = request;
    const media = mediaTypesOf(assistant.metadata);
    requireAccepted(message.parts, media);
    requireAcceptable(request.acceptedOutputModes, media);
    const contextId = isUuid(message.contextId) ? message.contextId.toLowerCase() : null;
    const runId = uuidv7();
    const common = { assistant_id: assistant.assistantId, ...(context && { context }) };
    if (isForTask(request)) {
      const task = await this.#named(UNRESTRICTED, assistant, request);
      const resume = command ?? { resume: answerOf(message) };
      // One of two answers at once counts.
      const run: AskedRun = { ...common, command: resume as RunRequest['command'], multitask_strategy: 'reject' };
      return { request, runId, threadId: task?.contextId ?? contextId, run };
    }
    if (message.contextId !== undefined && contextId === null) {
      throw invalidParams('message.contextId', 'must be a UUID');
    }
    const { input, hasMessage } = inputOf(message, runId);
    if (hasMessage) await this.#requireMessages(assistant);
    const creation: Partial<AskedRun> = contextId === null ? {} : { if_not_exists: 'create' };
    return { request, runId, threadId: contextId, run: { ...common, ...creation, input } };
  }

  /**
   * Resolves with the task when its run is durable.
   *
   * @param plan with the run as the project left it
   * @throws A2aError, and what `RunService.create` throws
   */
  async send(sender: Sender, assistant: AssistantRecord, plan: MessagePlan): Promise<TaskRecord> {
    const { request, runId } = plan;
    if (!isForTask(request)) {
      const { threadId } = plan;
      if (threadId !== null) return this.#create(sender, plan, { threadId, taskId: runId });
      const onNewThread: MessagePlan = { ...plan, run: { ...plan.run, if_not_exists: 'create' } };
      return this.#create(sender, onNewThread, { threadId: uuidv7(), taskId: runId });
    }
    const task = await this.#named(sender.origin.scope, assistant, request);
    if (!task) throw new A2aError('UNSUPPORTED_OPERATION', 'No task of this context waits for input');
    requireOwnContext(request.message, task);
    requireWaiting(task);
    const { taskId, contextId: threadId, runId: followsRunId } = task;
    try {
      return await this.#create(sender, plan, { threadId, taskId, followsRunId });
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      throw new A2aError('UNSUPPORTED_OPERATION', `Task ${taskId} does not wait for input any more`);
    }
  }

  /** Returns the task that a message is for: the one that it names, or the one of its context that waits. */
  async #named(
    scope: Scope,
    { assistantId }: AssistantRecord,
    { message: { taskId, contextId } }: SendRequest,
  ): Promise<TaskRecord | undefined> {
    if (taskId !== undefined) return this.#options.reader.require(scope, assistantId, taskId);
    return isUuid(contextId) ? this.#options.tasks.findWaiting(scope, assistantId, contextId) : undefined;
  }

  /** Lets an assistant pass whose input is unknown. @throws A2aError when its graph takes no messages */
  async #requireMessages(assistant: AssistantRecord): Promise<void> {
    const keys = await this.#options.inputKeys.of(assistant);
    if (keys === undefined || keys.has('messages')) return;
    throw new A2aError(
      'INVALID_PARAMS',
      `Assistant ${assistant.assistantId} takes no messages: its graph has no \`messages\`. Send data parts.`,
    );
  }

  async #create(
    { origin, version }: Sender,
    { request, runId, run }: MessagePlan,
    task: { threadId: string; taskId: string; followsRunId?: string },
  ): Promise<TaskRecord> {
    const { threadId, taskId, followsRunId } = task;
    const pushConfigs = request.pushConfig
      ? [await this.#options.acceptPush(request.pushConfig, { taskId, version })]
      : [];
    const { record } = await this.#options.runs
      .create(
        { ...origin, threadId, runId, ...(followsRunId && { followsRunId }), task: { taskId, pushConfigs } },
        { ...run, stream_mode: [TASK_STREAM_MODE] },
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
      isSuperseded: false,
    };
  }
}

/** Returns whether a message continues a task, and does not begin one. */
function isForTask({ message, command }: SendRequest): boolean {
  return message.taskId !== undefined || command !== undefined || isAnswer(message);
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
