import { conforms, isUuid, ProtocolCommand, type ProtocolError, ProtocolEventStreamRequest } from '@runyard/contracts';
import { parseEventId, sequenceOf } from '@runyard/run-stream';
import { AppError, type Logger } from '@runyard/service-kit';
import Type from 'typebox';
import { v7 as uuidv7 } from 'uuid';
import type { WebSocket } from 'ws';
import type { Scope } from '../access/scope.ts';
import type { ThreadAccess } from '../threads/thread-access.ts';
import type { EventSources } from './event-follower.ts';
import { CommandError, codeOfStatus, paramsReader, toErrorResponse } from './protocol-response.ts';
import type { ReceivedBytes } from './received-bytes.ts';
import { SocketWriter } from './socket-writer.ts';
import { renderEvent } from './thread-event.ts';
import { type NewSubscription, ThreadSubscriptions } from './thread-subscriptions.ts';

/** Commands that wait for those before them; a client that sends more is disconnected. */
const MAX_WAITING = 100;
/** Bytes of those commands beyond which nothing more is read of the websocket until some have been executed. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const MAX_SUBSCRIPTIONS = 100;
/** Close codes of websockets: the client breaks the rules; the server restarts; the server has no room. */
const POLICY_VIOLATION = 1008;
const SERVICE_RESTART = 1012;
const TRY_AGAIN_LATER = 1013;
/** Milliseconds that a client has to agree to the end. */
const CLOSE_MS = 1_000;

const readSubscription = paramsReader(ProtocolEventStreamRequest);
const readUnsubscribe = paramsReader(Type.Object({ subscription_id: Type.String() }));
const readReconnect = paramsReader(
  Type.Object({
    run_id: Type.String(),
    last_event_id: Type.Optional(Type.String()),
    subscriptions: Type.Optional(Type.Array(Type.String())),
  }),
);

export interface ProtocolSocketOptions {
  socket: WebSocket;
  /** Counts what comes over the websocket. */
  received: ReceivedBytes;
  threadId: string;
  sources: EventSources;
  /** Returns what the caller may see of the thread. @throws AppError */
  scope(subscription: ProtocolEventStreamRequest): Promise<Scope>;
  access(scope: Scope): ThreadAccess;
  /** Executes a command that is not about subscriptions, and returns its response. @throws AppError */
  execute(command: ProtocolCommand): Promise<unknown>;
  logger: Logger;
}

type Params = Record<string, unknown>;

/** A message that waits for those before it. */
interface WaitingMessage {
  /** Is read when its turn comes: what it says may take many times as much memory. */
  data: Buffer;
  /** Gives back the bytes that it holds. */
  release(): void;
}

/** A subscription that may begin. */
interface Subscribing extends NewSubscription {
  since: number | undefined;
  command: ProtocolCommand;
}

const SUBSCRIBE = 'subscription.subscribe';
/** Milliseconds in which a client that asks for several subscriptions at once has sent the next one. */
const TOGETHER_MS = 10;

/** One websocket of the event protocol: commands in their order, and the events of its subscriptions. */
export class ProtocolSocket {
  readonly #options: ProtocolSocketOptions;
  readonly #writer: SocketWriter;
  readonly #subscriptions: ThreadSubscriptions;
  /** The last event that the client has, for subscriptions to come. */
  #since: number | undefined;
  /** The first ones are being executed, the others wait for them. */
  readonly #waiting: WaitingMessage[] = [];
  #waitingBytes = 0;
  /** Is called when a message has come. */
  #onMessage: (() => void) | undefined;
  #isReadNoFurther = false;
  #isClosed = false;

  constructor(options: ProtocolSocketOptions) {
    this.#options = options;
    const { socket, received, threadId, sources } = options;
    this.#writer = new SocketWriter(socket);
    this.#subscriptions = new ThreadSubscriptions({
      threadId,
      sources,
      write: (event) => this.#writer.write(renderEvent(event)),
      onFailure: (error) => {
        options.logger.warn('events of a websocket not read, closing it', { error });
        this.restart();
      },
    });
    // A frame that is too large, or none, ends the socket with a code that says so.
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => this.#receive(data));
    received.onNoRoom = () => this.#refuseMore();
    socket.once('close', () => {
      this.#isClosed = true;
      this.#subscriptions.close();
    });
  }

  /** Ends the socket because the process stops: its client reconnects. */
  restart(): void {
    this.#end(SERVICE_RESTART);
  }

  /** Ends the socket because its client has lost the right to it. */
  refuse(): void {
    this.#end(POLICY_VIOLATION, 'no access any more');
  }

  #end(code: number, reason?: string): void {
    const { socket } = this.#options;
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  }

  /** Ends the socket because the process holds too much already, of others too. */
  #refuseMore(): void {
    if (this.#isReadNoFurther) return;
    this.#isReadNoFurther = true;
    this.#end(TRY_AGAIN_LATER, 'too much is being received at the moment');
    this.#options.socket.pause();
  }

  #receive(data: Buffer): void {
    const { socket, received } = this.#options;
    // The message was not counted.
    if (this.#isReadNoFurther) return;
    const release = received.take(data);
    if (this.#waiting.length >= MAX_WAITING) {
      release();
      socket.close(POLICY_VIOLATION, 'too many commands');
      return;
    }
    this.#waitingBytes += data.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) socket.pause();
    const isFirst = this.#waiting.push({ data, release }) === 1;
    if (isFirst) void this.#answerAll();
    this.#onMessage?.();
  }

  /** Resolves with the message after so many that wait, which may come a moment later. */
  #messageAfter(count: number): Promise<WaitingMessage | undefined> {
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        this.#onMessage = undefined;
        resolve(this.#waiting[count]);
      };
      const timer = setTimeout(settle, TOGETHER_MS);
      this.#onMessage = settle;
      if (this.#waiting.length > count) settle();
    });
  }

  /** Never rejects. */
  async #answerAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const answered = await this.#answerNext();
      for (const { data, release } of this.#waiting.splice(0, answered)) {
        this.#waitingBytes -= data.length;
        release();
      }
      if (this.#waitingBytes <= MAX_WAITING_BYTES && !this.#isReadNoFurther) this.#options.socket.resume();
    }
  }

  /** Returns the number of messages that it has answered. Never rejects. */
  async #answerNext(): Promise<number> {
    const command = parseCommand(this.#waiting[0]!.data);
    if (!command) {
      const message = 'Protocol commands must be JSON with an integer id and a string method.';
      await this.#send({ type: 'error', id: null, error: 'invalid_argument', message });
      return 1;
    }
    if (command.method === SUBSCRIBE) return this.#subscribe(command);
    try {
      await this.#execute(command);
    } catch (error) {
      await this.#fail(command, error);
    }
    return 1;
  }

  async #execute(command: ProtocolCommand): Promise<void> {
    const { id, method, params = {} } = command;
    switch (method) {
      case 'subscription.unsubscribe':
        await this.#succeed(id, this.#unsubscribe(params));
        break;
      case 'subscription.reconnect':
        await this.#succeed(id, this.#reconnect(params));
        break;
      default:
        await this.#send(await this.#options.execute(command));
    }
  }

  /**
   * Begins subscriptions that are asked for one right after the other together, so that what is kept comes in one order
   * for all of them. The official client asks for several: when the first one tells it the end of a run, it gives up what
   * the others have not brought yet. Responses come before events. Returns the number of commands that it has answered.
   */
  async #subscribe(first: ProtocolCommand): Promise<number> {
    const together: Subscribing[] = [];
    let command: ProtocolCommand | undefined = first;
    while (command?.method === SUBSCRIBE) {
      try {
        const subscribing = await this.#admit(command, together.length);
        if (together.length > 0 && subscribing.since !== together[0]!.since) break;
        together.push(subscribing);
      } catch (error) {
        // It is refused when those before it have been answered.
        if (together.length > 0) break;
        await this.#fail(command, error);
        return 1;
      }
      const next = await this.#messageAfter(together.length);
      command = next && parseCommand(next.data);
    }
    // Nobody reads what comes after the end of the socket, and nobody would end it.
    if (this.#isClosed) return together.length;
    try {
      await this.#subscriptions.add(together, together[0]!.since);
    } catch (error) {
      for (const subscribing of together) await this.#fail(subscribing.command, error);
    }
    return together.length;
  }

  /** @throws what refuses the subscription, beside so many others that begin with it */
  async #admit(command: ProtocolCommand, others: number): Promise<Subscribing> {
    const { since = this.#since, ...filter } = readSubscription(command.params ?? {});
    if (this.#subscriptions.size + others >= MAX_SUBSCRIPTIONS) {
      throw new CommandError('invalid_argument', `A websocket has at most ${MAX_SUBSCRIPTIONS} subscriptions`);
    }
    const access = this.#options.access(await this.#options.scope(filter));
    const id = uuidv7();
    const answer = (kept: number) => this.#succeed(command.id, { subscription_id: id, replayed_events: kept });
    return { id, access, filter, since, command, answer };
  }

  #unsubscribe(params: Params): object {
    const { subscription_id: id } = readUnsubscribe(params);
    if (!this.#subscriptions.remove(id)) throw new CommandError('no_such_subscription', `Unknown subscription: ${id}`);
    return {};
  }

  /** Subscriptions end with their websocket: on a new one they are made anew, and go on after the last event. */
  #reconnect(params: Params): object {
    const { run_id, last_event_id, subscriptions = [] } = readReconnect(params);
    if (!isUuid(run_id)) throw new CommandError('no_such_run', 'Run not found');
    const since = last_event_id === undefined ? undefined : sequenceOfEvent(last_event_id);
    if (since !== undefined) this.#since = since;
    return { restored: subscriptions.every((id) => this.#subscriptions.has(id)) };
  }

  #fail({ id }: ProtocolCommand, error: unknown): Promise<void> {
    return this.#send(this.#errorResponse(id, error));
  }

  #errorResponse(id: number, error: unknown): ProtocolError {
    try {
      return toErrorResponse(id, error);
    } catch {
      if (!(error instanceof AppError)) this.#options.logger.error('command failed unexpectedly', { error });
      const isKnown = error instanceof AppError;
      return {
        type: 'error',
        id,
        error: isKnown ? codeOfStatus(error.status) : 'unknown_error',
        message: isKnown ? error.message : 'Internal Server Error',
      };
    }
  }

  #succeed(id: number, result: object): Promise<void> {
    return this.#send({ type: 'success', id, result, meta: { thread_id: this.#options.threadId } });
  }

  async #send(message: unknown): Promise<void> {
    await this.#writer.write(JSON.stringify(message));
  }
}

function parseCommand(data: Buffer): ProtocolCommand | undefined {
  try {
    const command: unknown = JSON.parse(String(data));
    return conforms(ProtocolCommand, command) ? command : undefined;
  } catch {
    return undefined;
  }
}

/** Reads an event's id, which is its number; an entry of several events adds which of them it is. */
function sequenceOfEvent(eventId: string): number {
  const number = /^(\d{1,16})(:(\d+|gap))?$/.exec(eventId)?.[1];
  if (number !== undefined) return Number(number);
  const id = parseEventId(eventId);
  if (id === undefined) throw new CommandError('invalid_argument', 'params: last_event_id is no id of an event');
  return sequenceOf(id);
}
