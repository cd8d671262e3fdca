import type { RunStreams } from '@runyard/run-stream';
import { isInFlight } from '../../a2a/tasks/task-record.ts';
import { UNRESTRICTED } from '../../access/scope.ts';
import type { StreamRights, ThreadRight } from '../../auth/stream-rights.ts';
import { awaitNextRun, type NextRun } from '../../streams/await-next-run.ts';
import type { FollowedEntry } from '../../streams/follow-run.ts';
import type { RunWatch } from '../../streams/run-watch.ts';
import type { McpCall, Peer } from '../call.ts';
import type { CallEnd } from '../calls/call-end.ts';
import { type CallSources, followCall } from '../calls/follow-call.ts';
import type { Interrupt } from '../calls/questions.ts';
import type { RequestId } from '../protocol/frame.ts';
import { noTask, type ToolTasks } from './tool-tasks.ts';

export type ConversationSources = CallSources & { streams: Pick<RunStreams, 'read'>; watch: RunWatch };

/** The run of a call whose client may be asked. */
interface ConversationRun {
  threadId: string;
  runId: string;
  taskId: string;
}

interface SettleOptions {
  /** The right by which the caller follows the run. */
  right: ThreadRight;
  /** The end of the run, if it is known. */
  ended?: CallEnd | undefined;
  onEntry?: ((entry: FollowedEntry) => Promise<void>) | undefined;
  /** Parameters that each question has beside its own. */
  about?: object;
}

/**
 * Talks with clients of the revisions up to 2025-11-25 while their calls run: questions go out on the stream of a call,
 * and the answer to each comes as a request of its own, to any process of the deployment. The id of a question names
 * the run that asks: whoever gets the answer finds it in the database.
 */
export class OldConversation {
  readonly #sources: ConversationSources;
  readonly #tasks: ToolTasks;
  readonly #rights: Pick<StreamRights, 'watchAnswer'> | undefined;

  /** @param rights undefined where the project does not decide about callers */
  constructor(sources: ConversationSources, tasks: ToolTasks, rights: Pick<StreamRights, 'watchAnswer'> | undefined) {
    this.#sources = sources;
    this.#tasks = tasks;
    this.#rights = rights;
  }

  /** Resolves with the end of a call that asks nothing more; undefined when the client has left. */
  async settle(
    { client, request }: Pick<McpCall, 'client' | 'request'>,
    run: ConversationRun,
    peer: Peer,
    { right, ended, onEntry, about }: SettleOptions,
  ): Promise<CallEnd | undefined> {
    const signal = peer.closed;
    let { runId } = run;
    let isWatched = false;
    let known: { end: CallEnd; lastId: string | undefined } | undefined = ended && { end: ended, lastId: undefined };
    for (;;) {
      known ??= await followCall(this.#sources, { threadId: run.threadId, runId }, { signal, onEntry });
      if (!known) return undefined;
      const { end, lastId } = known;
      if (end.kind !== 'asks' || !client.asksUser || !peer.isStream) return end;
      // Nothing but an answer ends the waiting, and it may come from somebody else.
      if (!isWatched) this.#rights?.watchAnswer(request, run.threadId, right);
      isWatched = true;
      await this.#ask({ ...run, runId }, end.interrupts, peer, about);
      const next = await awaitNextRun(
        this.#sources,
        { threadId: run.threadId, runId, afterId: lastId },
        { look: () => this.#lookForNext(run.taskId, runId), signal },
      );
      if (next === 'ended') return { kind: 'cancelled' };
      if (!next) return undefined;
      runId = next.runId;
      known = undefined;
    }
  }

  /** Takes the answer to a question. One that was answered before is ignored. @throws McpError */
  async answer(
    call: Pick<McpCall, 'request'>,
    { id, result }: { id: RequestId; result: object | undefined },
  ): Promise<void> {
    const [taskId = '', runId = '', ...interruptId] = String(id).split('/');
    if (interruptId.length === 0) throw noTask();
    const found = await this.#tasks.require(call, taskId, 'create_run');
    if (found.task.runId !== runId || isInFlight(found.task)) return;
    const answers = { [interruptId.join('/')]: result ?? { action: 'cancel' } };
    await this.#tasks.answer(call, found, answers, { asksOnce: true });
  }

  async #ask(
    { taskId, runId }: Pick<ConversationRun, 'taskId' | 'runId'>,
    interrupts: readonly Interrupt[],
    peer: Peer,
    about: object = {},
  ): Promise<void> {
    const task = await this.#tasks.find(UNRESTRICTED, taskId);
    // Somebody else has answered meanwhile.
    if (task?.runId !== runId) return;
    for (const { interruptId, params } of await this.#tasks.openQuestions(task, interrupts)) {
      const id = `${taskId}/${runId}/${interruptId}`;
      await peer.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { ...params, ...about } });
    }
  }

  async #lookForNext(taskId: string, runId: string): Promise<NextRun> {
    const task = await this.#tasks.find(UNRESTRICTED, taskId);
    if (!task || task.state === 'TASK_STATE_CANCELED') return 'ended';
    return task.runId === runId ? undefined : { runId: task.runId };
  }
}
