import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { followStream } from '../../event-follower.ts';
import { connectBySse } from '../../protocol/event-connections.ts';
import type { Random } from '../../random.ts';
import { askJson } from '../ask.ts';
import { RepeatingClients } from '../repeating-clients.ts';
import { answerTo, chooseTalk } from '../talk.ts';
import { PATIENCE_MS, RETRY_MS } from '../task-timing.ts';
import { AnswerParts } from './answer-parts.ts';
import { type A2aTask, hasEnded, NEEDS_INPUT, type TaskEvent, textOf } from './task-forms.ts';

export interface A2aTaskClientsOptions {
  /** The deployment's URL for clients. */
  url: string;
  headers: Record<string, string>;
  random: Random;
}

/** A context with one task, which has ended for its client. */
export interface EndedTask {
  contextId: string;
  task: A2aTask;
  /** The answer that its message wants. */
  wanted: string;
}

const ANSWER = 'approved';
/** Milliseconds in which the kept events of a thread have come. */
const LOOK_MS = 5_000;

/**
 * Clients of A2A 1.0 that have one task after another executed: they subscribe to it, cut their connections at random,
 * answer its question, and ask for it again and again until it has ended. They send each message until it is answered,
 * and some of them once more.
 */
export class A2aTaskClients {
  readonly ended: EndedTask[] = [];
  readonly faults: string[] = [];
  /** Subscriptions that came to their end with parts of an answer, and those that were cut. */
  whole = 0;
  cuts = 0;
  /** Messages that were sent again. */
  repeats = 0;
  /** True while parts may be lost, as Redis is emptied. */
  mayLoseParts = false;
  /** Subscriptions that missed parts of which the stream of their thread tells that they are lost. */
  toldLosses = 0;
  readonly #options: A2aTaskClientsOptions;
  readonly #clients: RepeatingClients;

  constructor(clients: number, options: A2aTaskClientsOptions) {
    this.#options = options;
    this.#clients = new RepeatingClients(clients, () => this.#doOneTask());
  }

  /** Resolves when everything begun has ended. */
  stop(): Promise<void> {
    return this.#clients.stop();
  }

  async #doOneTask(): Promise<void> {
    const { random } = this.#options;
    const contextId = randomUUID();
    const talk = chooseTalk(random);
    const until = Date.now() + PATIENCE_MS;
    const begun = await this.#send({ contextId, parts: [{ text: talk.said }] }, until);
    if (!begun) return void this.faults.push(`no task was begun in context ${contextId}`);
    let task: A2aTask = begun;
    while (Date.now() < until) {
      await this.#subscribe(task);
      const shown = await this.#get(task.id);
      // An answer to a question that was there before would be refused for good.
      if (!shown) continue;
      task = shown;
      if (hasEnded(task.status.state)) break;
      if (task.status.state === NEEDS_INPUT) await this.#answer(task, until);
    }
    if (!hasEnded(task.status.state)) return void this.faults.push(`task ${task.id} is ${task.status.state}`);
    this.ended.push({ contextId, task, wanted: answerTo(talk, ANSWER) });
  }

  /** Sends a message until its task is known, and at random once more; undefined when nobody answers in time. */
  async #send(content: object, until: number): Promise<A2aTask | undefined> {
    const message = { messageId: randomUUID(), role: 'ROLE_USER', ...content };
    const body = { message, configuration: { returnImmediately: true } };
    let isKnown = false;
    for (let attempt = 0; Date.now() < until; attempt += 1) {
      if (attempt > 0) this.repeats += 1;
      const sent = (await this.#request('/message:send', body)) as { task?: A2aTask } | undefined;
      if (sent?.task && (isKnown || !this.#options.random.chance(0.3))) return sent.task;
      isKnown ||= sent?.task !== undefined;
      await pause(RETRY_MS);
    }
    return undefined;
  }

  /** Answers a question. Another try of this client may have done so: the task says what became of it. */
  async #answer({ id: taskId, contextId }: A2aTask, until: number): Promise<void> {
    await this.#send({ taskId, contextId, parts: [{ text: ANSWER }] }, until);
  }

  /** Subscribes once, and leaves at random, or to answer a question that nobody else would answer. */
  async #subscribe({ id, contextId }: A2aTask): Promise<void> {
    const { url, headers, random } = this.#options;
    const cut = new AbortController();
    const late = setTimeout(() => cut.abort(), PATIENCE_MS);
    const leavesAfter = random.chance(0.5) ? random.integer(1, 40) : Number.POSITIVE_INFINITY;
    const parts = new AnswerParts();
    let events = 0;
    let isAsked = false;
    const { status, end } = await followStream(`${url}/a2a/talk/tasks/${id}:subscribe`, {
      headers: { ...headers, 'a2a-version': '1.0' },
      signal: cut.signal,
      onEvent: ({ event, data }) => {
        if (cut.signal.aborted || event !== 'message') return;
        parts.add(data as TaskEvent);
        events += 1;
        isAsked = (data as TaskEvent).task?.status.state === NEEDS_INPUT;
        if (events >= leavesAfter || isAsked) cut.abort();
      },
    });
    clearTimeout(late);
    this.faults.push(...parts.faults.map((fault) => `subscription to ${id}: ${fault}`));
    if (parts.isTorn && !this.mayLoseParts) {
      if (await this.#tellsOfLoss(contextId)) this.toldLosses += 1;
      else this.faults.push(`subscription to ${id}: its parts are "${parts.parts}", the answer is "${parts.whole}"`);
    }
    if (isAsked) return;
    if (parts.state !== undefined && parts.parts !== undefined) this.whole += 1;
    else if (status === 200 && (cut.signal.aborted || end === 'cut')) this.cuts += 1;
    else if (status !== 200) await pause(RETRY_MS);
  }

  /**
   * Returns whether the stream of a thread says that events are lost: its worker was killed when they were stored and not
   * published yet. A2A has no word for it; its readers take the whole answer at the end.
   */
  async #tellsOfLoss(threadId: string): Promise<boolean> {
    const { url, headers } = this.#options;
    let isTold = false;
    for (let wasOpen = false; !wasOpen; ) {
      const looked = new AbortController();
      const late = setTimeout(() => looked.abort(), LOOK_MS);
      const onEvent = ({ method }: { method?: string }) => {
        isTold ||= method === 'gap';
        if (isTold) looked.abort();
      };
      ({ wasOpen } = await connectBySse({ url, headers, threadId, signal: looked.signal, onEvent }));
      clearTimeout(late);
      if (!wasOpen) await pause(RETRY_MS);
    }
    return isTold;
  }

  async #get(id: string): Promise<A2aTask | undefined> {
    return (await this.#request(`/tasks/${id}`)) as A2aTask | undefined;
  }

  /** Returns the body of a successful answer. Never rejects. */
  #request(path: string, body?: unknown): Promise<unknown> {
    const { url, headers } = this.#options;
    return askJson(`${url}/a2a/talk${path}`, { headers: { ...headers, 'a2a-version': '1.0' }, body });
  }
}

/** Returns what is wrong with a task as one process shows it. */
export function faultOfTask(shown: A2aTask | undefined, { wanted }: Pick<EndedTask, 'wanted'>): string | undefined {
  if (shown?.status.state !== 'TASK_STATE_COMPLETED') return `is ${shown?.status.state ?? 'gone'}`;
  const text = textOf(shown.artifacts?.[0]);
  return text === wanted ? undefined : `answers "${text}" instead of "${wanted}"`;
}
