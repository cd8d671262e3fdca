import type { RunStreams } from '@runyard/run-stream';
import { isInFlight } from '../../a2a/tasks/task-record.ts';
import { UNRESTRICTED } from '../../access/scope.ts';
import type { StreamRights, ThreadRight } from '../../auth/stream-rights.ts';
import { awaitNextRun, type NextRun } from '../../streams/await-next-run.ts';
import type { FollowedEntry } from '../../streams/follow-run.ts';
import type { RunWatch } from '../../streams/run-watch.ts';
import type { Follower, McpCall, Peer } from '../call.ts';
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
  /** Reads the end of a run that has ended, whose values have room until the signal; left out for one in flight. */
  readEnd?: ((until: AbortSignal) => Promise<CallEnd | undefined>) | undefined;
  onEntry?: ((entry: FollowedEntry) => Promise<void>) | undefined;
  /** Parameters that each question has beside its own. */
  about?: object;
}

/** The outcome of one run: its questions were asked, or it is the end of the call; undefined when the client has left. */
type Settled = { kind: 'asked'; lastId: string | undefined } | CallEnd | undefined;

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
    { client, request }: Pick<McpCall, 'client'> & { request: Follower },
    run: ConversationRun,
    peer: Peer,
    { right, readEnd, ...options }: SettleOptions,
  ): Promise<CallEnd | undefined> {
    const canAsk = client.asksUser && peer.isStream;
    let current = run;
    let settled = await this.#settleOne(current, peer, { ...options, canAsk, readEnd });
    // Nothing but an answer ends the waiting, and it may come from somebody else.
    if (settled?.kind === 'asked') this.#rights?.watchAnswer(request, run.threadId, right);
    while (settled?.kind === 'asked') {
      const { threadId, taskId, runId } = current;
      const next = await awaitNextRun(
        this.#sources,
        { threadId, runId, afterId: settled.lastId },
        { look: () => this.#lookForNext(taskId, runId), signal: peer.closed },
      );
      if (next === 'ended') return { kind: 'cancelled' };
      if (!next) return undefined;
      current = { threadId, taskId, runId: next.runId };
      settled = await this.#settleOne(current, peer, { ...options, canAsk });
    }
    return settled;
  }

  /** A function of its own, so that the state of a run that asks is gone, and its room given back, while its user thinks. */
  async #settleOne(
    run: ConversationRun,
    peer: Peer,
    { canAsk, readEnd, onEntry, about }: Omit<SettleOptions, 'right'> & { canAsk: boolean },
  ): Promise<Settled> {
    const asked = new AbortController();
    const { closed: signal } = peer;
    const closed = AbortSignal.any([signal, asked.signal]);
    const { threadId, runId } = run;
    const followed = readEnd
      ? { end: await readEnd(closed), lastId: undefined }
      : await followCall(this.#sources, { threadId, runId }, { signal, closed, onEntry });
    const end = followed?.end;
    if (end?.kind !== 'asks' || !canAsk) return end;
    await this.#ask(run, end.interrupts, peer, about);
    asked.abort();
    return { kind: 'asked', lastId: followed?.lastId };
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
