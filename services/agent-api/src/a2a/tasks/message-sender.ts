import { type A2aMessage, IDEMPOTENCY_KEY_HEADER, isUuid, type Operation } from '@runyard/contracts';
import type { AskedCreation, Creation, IdempotencyKeys, KeyedRequest } from '@runyard/idempotency';
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
import type { ThreadStore } from '../../threads/thread-store.ts';
import { A2aError, invalidParams } from '../protocol/a2a-error.ts';
import type { A2aVersion } from '../protocol/versions.ts';
import { mediaTypesOf, requireAcceptable, requireAccepted } from './media-types.ts';
import { answerOf, inputOf, isAnswer } from './message-input.ts';
import { nameOfMessage } from './message-name.ts';
import type { SendRequest } from './send-request.ts';
import { TASK_STREAM_MODE } from './task-events.ts';
import type { TaskReader } from './task-reader.ts';
import { isTerminal, isWaiting, type TaskRecord } from './task-record.ts';
import type { TaskStore } from './task-store.ts';

export interface MessageSenderOptions {
  runs: Pick<RunService, 'create'>;
  tasks: Pick<TaskStore, 'findWaiting'>;
  reader: Pick<TaskReader, 'require'>;
  threads: Pick<ThreadStore, 'findWithoutState'>;
  inputKeys: Pick<InputKeys, 'of'>;
  keys: Pick<IdempotencyKeys, 'once' | 'onceNamed'>;
  /** Checks the push notification configuration of a message. */
  acceptPush(fields: Fields, about: { taskId: string; version: A2aVersion }): Promise<Omit<PushConfig, 'threadId'>>;
}

/** The sender of a message. */
export interface Sender {
  /** Its scope is that of the threads that the sender may run on. */
  origin: Omit<RunOrigin, 'threadId' | 'runId' | 'task'>;
  version: A2aVersion;
  /** The operation by which the message came, with its request, which may have an idempotency key. */
  creation?: MessageCreation | undefined;
}

export interface MessageCreation {
  operation: Operation;
  /** Its body is what counts of the message: the id of a call may differ when it is made again. */
  request: AskedCreation;
}

/** The task of a message, as it is kept with the name of the message. */
type SentTask = Pick<TaskRecord, 'taskId'>;

/** The run that a message asks for, on a thread that its sender may turn out not to see. */
export interface MessagePlan extends RunQuestion {
  request: SendRequest;
  runId: string;
}

/** A plan with the idempotency key that its run binds. */
interface KeyedPlan {
  plan: MessagePlan;
  keyed: KeyedRequest | undefined;
}

/**
 * Sends messages to assistants: each is a run, which begins a task or continues one. A message that is sent again is
 * answered by its task.
 */
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
    const id = await this.#idInState(message.messageId, contextId);
    const { input, hasMessage } = inputOf(message, { id, taskId: runId });
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
    const sent = await this.#sendOnce(sender, assistant, plan);
    if ('state' in sent) return sent;
    return this.#options.reader.require(sender.origin.scope, assistant.assistantId, sent.taskId);
  }

  /** Sends a message unless it was sent before: by its idempotency key, or else by its own id. */
  #sendOnce(sender: Sender, assistant: AssistantRecord, plan: MessagePlan): Promise<TaskRecord | SentTask> {
    const { keys } = this.#options;
    const once: Creation<TaskRecord | SentTask, SentTask> = {
      create: (keyed) => this.#send(sender, assistant, { plan, keyed }),
      repeat: (kept) => kept,
    };
    const { origin, creation } = sender;
    if (creation?.request.raw.headers[IDEMPOTENCY_KEY_HEADER] !== undefined) {
      return keys.once(creation.operation, creation.request, once);
    }
    const { assistantId } = assistant;
    const name = nameOfMessage(plan.request, { user: origin.user?.identity ?? '', assistantId });
    return name ? keys.onceNamed(name, once) : once.create(undefined);
  }

  async #send(sender: Sender, assistant: AssistantRecord, asked: KeyedPlan): Promise<TaskRecord> {
    const { plan, keyed } = asked;
    const { request, runId } = plan;
    if (!isForTask(request)) {
      const { threadId } = plan;
      if (threadId !== null) return this.#create(sender, asked, { threadId, taskId: runId });
      const onNewThread: MessagePlan = { ...plan, run: { ...plan.run, if_not_exists: 'create' } };
      return this.#create(sender, { plan: onNewThread, keyed }, { threadId: uuidv7(), taskId: runId });
    }
    const task = await this.#named(sender.origin.scope, assistant, request);
    if (!task) throw new A2aError('UNSUPPORTED_OPERATION', 'No task of this context waits for input');
    requireOwnContext(request.message, task);
    requireWaiting(task);
    const { taskId, contextId: threadId, runId: followsRunId } = task;
    try {
      return await this.#create(sender, asked, { threadId, taskId, followsRunId });
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

  /**
   * Returns the id of a message in the state of its thread: that of its client, or a new one where there is a thread,
   * which may have, or get, a message of that id, which it would replace.
   */
  async #idInState(messageId: string, contextId: string | null): Promise<string> {
    if (contextId === null) return messageId;
    const thread = await this.#options.threads.findWithoutState(UNRESTRICTED, contextId);
    return thread ? uuidv7() : messageId;
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
    { plan: { request, runId, run }, keyed }: KeyedPlan,
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
        keyed && { request: keyed, answerOf: (): SentTask => ({ taskId }) },
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
