import type { A2aTask } from '@runyard/contracts';
import type { RunEngine } from '@runyard/run-engine';
import { ClientDisconnectedError, NotFoundError } from '@runyard/service-kit';
import { isRestricted, type Scope, UNRESTRICTED } from '../../access/scope.ts';
import type { AssistantRecord } from '../../assistants/assistant-record.ts';
import type { AssistantService } from '../../assistants/assistant-service.ts';
import type { StreamRights } from '../../auth/stream-rights.ts';
import { closedAnswer } from '../../http/closed-answer.ts';
import type { Fields } from '../../http/fields.ts';
import { askAboutRun } from '../../protocols/ask-about-run.ts';
import type { RunService } from '../../runs/run-service.ts';
import { A2aError, taskNotFound } from '../protocol/a2a-error.ts';
import { historyScopeOf } from '../protocol/history-scope.ts';
import { optionalBoolean, optionalInteger, optionalText, optionalTime, requireText } from '../protocol/read-fields.ts';
import type { MessageSender } from '../tasks/message-sender.ts';
import { readPageToken, toPageToken } from '../tasks/page-token.ts';
import { readSendRequest } from '../tasks/send-request.ts';
import { type EventPosition, followTask, type TaskEventSources, untilSettled } from '../tasks/task-events.ts';
import { readState } from '../tasks/task-filters.ts';
import type { TaskReader } from '../tasks/task-reader.ts';
import { isInFlight, isTerminal, isWaiting, type TaskRecord } from '../tasks/task-record.ts';
import type { TaskFilters, TaskStore } from '../tasks/task-store.ts';
import type { TaskViewOptions } from '../tasks/task-view.ts';
import type { A2aAccess, Call } from './access.ts';
import { type Outcome, type Remainder, value } from './outcome.ts';

/** Messages of a history where the client does not say how many it wants. */
const HISTORY_LENGTH = 10;
const PAGE_SIZE = { usual: 50, max: 100 };
/** Milliseconds that a cancel waits for the end of a run before it answers with the task as it is. */
const CANCEL_PATIENCE_MS = 15_000;

export interface TaskMethodsOptions {
  access: A2aAccess;
  assistants: Pick<AssistantService, 'find'>;
  tasks: TaskStore;
  reader: TaskReader;
  sender: MessageSender;
  runs: Pick<RunService, 'cancel'>;
  engine: Pick<RunEngine, 'cancelWaitingTask'>;
  events: TaskEventSources;
  /** Asks again about users who follow a task without an end of its own; undefined where there are no users. */
  rights?: Pick<StreamRights, 'watchAnswer'> | undefined;
}

/** A task that a call names, with what the caller may see. */
interface Found {
  scope: Scope;
  assistantId: string;
  task: TaskRecord;
}

type Followed = Extract<Outcome, { kind: 'events' }>;

/** The rest of an answer that another process began. */
type Left = Pick<Remainder, 'view' | 'position'>;

/** The methods about tasks. Parameters are in the form of 1.0, with names in camel case. */
export class TaskMethods {
  readonly #options: TaskMethodsOptions;

  constructor(options: TaskMethodsOptions) {
    this.#options = options;
  }

  async send(call: Call, params: Fields): Promise<Outcome> {
    const { found, view, returnsImmediately } = await this.#send(call, params);
    return returnsImmediately ? value({ task: await this.#view(call, found, view) }) : this.#await(found, view);
  }

  async stream(call: Call, params: Fields): Promise<Outcome> {
    const { found, view } = await this.#send(call, params);
    return this.#beginToFollow(call, found, view);
  }

  /** Goes on with an answer that another process began: the result of a message, or the events after a position. */
  async goOn(call: Call, taskId: string | undefined, { view, position }: Left): Promise<Outcome> {
    const found = await this.#find(call, taskId ?? '');
    return view ? this.#await(found, view) : this.#follow(call, found, position);
  }

  async get(call: Call, params: Fields): Promise<Outcome> {
    const found = await this.#find(call, requireText(params, 'id'));
    const contextId = optionalText(params, 'contextId', 'params');
    if (contextId !== undefined && contextId !== found.task.contextId) throw taskNotFound(found.task.taskId);
    return value(await this.#view(call, found, viewOf(call, params)));
  }

  async subscribe(call: Call, params: Fields): Promise<Outcome> {
    const found = await this.#find(call, requireText(params, 'id'));
    if (isTerminal(found.task)) {
      throw new A2aError('UNSUPPORTED_OPERATION', `Task ${found.task.taskId} has ended: nothing more happens to it`);
    }
    const position = isWaiting(found.task) ? { askedRunId: found.task.runId } : {};
    return this.#beginToFollow(call, found, viewOf(call, params), position);
  }

  async list(call: Call, params: Fields): Promise<Outcome> {
    const { access, tasks, reader } = this.#options;
    const pageSize = optionalInteger(params, 'pageSize', { minimum: 1, maximum: PAGE_SIZE.max }) ?? PAGE_SIZE.usual;
    const token = optionalText(params, 'pageToken', 'params');
    const after = token === undefined ? undefined : readPageToken(token);
    const view: TaskViewOptions = {
      historyLength: optionalInteger(params, 'historyLength', { minimum: 0 }) ?? 0,
      historyScope: 'task',
      withArtifacts: optionalBoolean(params, 'includeArtifacts') ?? false,
    };
    const filters = filtersOf(params);
    const { assistantId } = await this.assistant(call);
    const { scope } = await access.ask(call, { event: 'threads:search', value: {} });
    const all = { ...filters, assistantId };
    const [rows, totalSize] = await Promise.all([
      tasks.list(scope, all, { limit: pageSize + 1, after }),
      tasks.count(scope, all),
    ]);
    const shown = requireClient(await reader.viewFirst(scope, rows.slice(0, pageSize), view, closedOf(call)));
    const last = rows[shown.length - 1];
    const nextPageToken = rows.length > shown.length && last ? toPageToken(last.mark) : '';
    return value({ tasks: shown, nextPageToken, pageSize, totalSize });
  }

  async cancel(call: Call, params: Fields): Promise<Outcome> {
    const found = await this.#find(call, requireText(params, 'id'), 'update');
    await this.#cancel(found);
    const signal = AbortSignal.any([call.request.signal, AbortSignal.timeout(CANCEL_PATIENCE_MS)]);
    const current = await this.#options.reader.require(found.scope, found.assistantId, found.task.taskId);
    const task = await untilSettled(this.#options.events, { ...found, task: current, signal });
    return value(await this.#view(call, { ...found, task: task ?? current }, viewOf(call, params)));
  }

  /** Returns the assistant that a call names. @throws NotFoundError, UnprocessableError */
  async assistant(call: Call): Promise<AssistantRecord> {
    const { access, assistants } = this.#options;
    const { assistant: named, tenant } = call;
    const { scope } = await access.ask(call, { event: 'assistants:read', value: { assistant_id: named } });
    const assistant = await assistants.find(scope, named);
    // An agent has one tenant: itself. Another one is answered as an agent that does not exist.
    if (tenant === undefined || tenant === named || tenant === assistant.assistantId) return assistant;
    throw new NotFoundError('Tenant not found');
  }

  /** Returns the task that a call is about. @throws A2aError when the caller may not see it */
  async task(call: Call, params: Fields, action: 'read' | 'update'): Promise<TaskRecord> {
    return (await this.#find(call, requireText(params, 'taskId'), action)).task;
  }

  async #find(call: Call, taskId: string, action: 'read' | 'update' = 'read'): Promise<Found> {
    const { access, reader } = this.#options;
    const { assistantId } = await this.assistant(call);
    // The project's handlers know threads.
    const task = await reader.require(UNRESTRICTED, assistantId, taskId);
    const { scope } = await access.ask(call, { event: `threads:${action}`, value: { thread_id: task.contextId } });
    if (!isRestricted(scope)) return { scope, assistantId, task };
    return { scope, assistantId, task: await reader.require(scope, assistantId, taskId) };
  }

  async #send(call: Call, params: Fields) {
    const { access, sender } = this.#options;
    const request = readSendRequest(params);
    const view = { ...viewOf(call, params), historyLength: request.historyLength ?? HISTORY_LENGTH };
    const assistant = await this.assistant(call);
    const { assistantId } = assistant;
    const plan = await sender.plan(assistant, request);
    const { scope, run } = await askAboutRun((question) => access.ask(call, question), plan);
    const origin = { ...access.creatorOf(call), scope, assistantScope: UNRESTRICTED };
    const task = await sender.send({ origin, version: call.version, creation: call.creation }, assistant, {
      ...plan,
      run,
    });
    return { found: { scope, assistantId, task }, view, returnsImmediately: request.returnsImmediately };
  }

  /** Waits for the end of a task, or its question. */
  #await(found: Found, view: TaskViewOptions): Outcome {
    const { events, reader } = this.#options;
    const { scope, assistantId, task } = found;
    return {
      kind: 'later',
      remainder: () => ({ assistantId, taskId: task.taskId, view }),
      value: async (closed) => {
        const settled = await untilSettled(events, { ...found, signal: closed });
        if (closed.aborted) return undefined;
        if (!settled) throw taskNotFound(task.taskId);
        return reader.answer(scope, settled, view, closed);
      },
    };
  }

  /** Shows a task first. Its content has room until it is out, not for as long as the task is followed. */
  async #beginToFollow(call: Call, found: Found, view: TaskViewOptions, after?: EventPosition): Promise<Outcome> {
    const out = new AbortController();
    const task = await this.#view(call, found, view, AbortSignal.any([closedOf(call), out.signal]));
    const following = this.#follow(call, found, after);
    const rest: Followed['rest'] = (closed) => {
      out.abort();
      return following.rest(closed);
    };
    return { ...following, first: { task }, rest };
  }

  #follow({ request }: Call, found: Found, after: EventPosition = {}): Followed {
    const { assistantId, task } = found;
    const position = { ...after };
    // Nothing but the user's answer ends the waiting.
    if (position.askedRunId !== undefined) this.#options.rights?.watchAnswer(request, task.contextId);
    return {
      kind: 'events',
      first: undefined,
      remainder: () => ({ assistantId, taskId: task.taskId, position }),
      rest: (closed) => followTask(this.#options.events, { ...found, signal: closed }, position),
    };
  }

  /** Orders the end of a task. Canceling a canceled one does nothing. @throws A2aError */
  async #cancel({ scope, task }: Found): Promise<void> {
    const { runs, engine } = this.#options;
    const { contextId: threadId, runId } = task;
    if (task.state === 'TASK_STATE_CANCELED') return;
    if (isWaiting(task) && (await engine.cancelWaitingTask({ threadId, runId }))) return;
    if (isInFlight(task)) {
      const selection = { threadId, runIds: [runId] };
      const cancelled = await runs.cancel(scope, selection, 'interrupt', 'CancelTask requested').catch(ignoreNotFound);
      if (cancelled) return;
    }
    throw new A2aError('TASK_NOT_CANCELABLE', `Task ${task.taskId} cannot be canceled any more`);
  }

  async #view(
    call: Call,
    { scope, task }: Found,
    view: TaskViewOptions,
    until: AbortSignal = closedOf(call),
  ): Promise<A2aTask> {
    const [shown] = requireClient(await this.#options.reader.viewFirst(scope, [task], view, until));
    return shown!;
  }
}

function closedOf({ request }: Call): AbortSignal {
  return closedAnswer(request.res);
}

/** @throws ClientDisconnectedError */
function requireClient<Shown>(shown: Shown | undefined): Shown {
  if (shown === undefined) throw new ClientDisconnectedError();
  return shown;
}

/** @throws A2aError */
function viewOf({ request }: Call, params: Fields): TaskViewOptions {
  return {
    historyLength: optionalInteger(params, 'historyLength', { minimum: 0 }) ?? HISTORY_LENGTH,
    historyScope: historyScopeOf(params, request.headers),
    withArtifacts: true,
  };
}

/** @throws A2aError */
function filtersOf(params: Fields): Omit<TaskFilters, 'assistantId'> {
  const since = optionalTime(params, 'statusTimestampAfter');
  const state = readState(optionalText(params, 'status', 'params'));
  return {
    contextId: optionalText(params, 'contextId', 'params'),
    states: state && [state],
    since,
  };
}

/** The run ended meanwhile. */
function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
  return undefined;
}
