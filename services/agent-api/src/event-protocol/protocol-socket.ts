import { conforms, isUuid, ProtocolCommand, type ProtocolError, ProtocolEventStreamRequest } from '@runyard/contracts';
import { parseEventId, sequenceOf } from '@runyard/run-stream';
import { AppError, type Logger } from '@runyard/service-kit';
import Type from 'typebox';
import { v7 as uuidv7 } from 'uuid';
import type { WebSocket } from 'ws';
import type { Scope } from '../access/scope.ts';
import type { EventSources } from './event-follower.ts';
import { CommandError, codeOfStatus, paramsReader, toErrorResponse } from './protocol-response.ts';
import type { ReceivedBytes } from './received-bytes.ts';
import { SocketWriter } from './socket-writer.ts';
import type { ThreadAccess } from './thread-access.ts';
import { renderEvent } from './thread-event.ts';
import { ThreadSubscriptions } from './thread-subscriptions.ts';

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

/** One websocket of the event protocol: commands in their order, and the events of its subscriptions. */
export class ProtocolSocket {
  readonly #options: ProtocolSocketOptions;
  readonly #writer: SocketWriter;
  readonly #subscriptions: ThreadSubscriptions;
  /** The last event that the client has, for subscriptions to come. */
  #since: number | undefined;
  #waiting = 0;
  #waitingBytes = 0;
  #isReadNoFurther = false;
  #isClosed = false;
  #last: Promise<void> = Promise.resolve();

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
    if (this.#waiting >= MAX_WAITING) {
      release();
      socket.close(POLICY_VIOLATION, 'too many commands');
      return;
    }
    const bytes = data.length;
    this.#waiting += 1;
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > MAX_WAITING_BYTES) socket.pause();
    this.#last = this.#last
      .then(() => this.#answer(String(data)))
      .finally(() => {
        this.#waiting -= 1;
        this.#waitingBytes -= bytes;
        release();
        if (this.#waitingBytes <= MAX_WAITING_BYTES && !this.#isReadNoFurther) socket.resume();
      });
  }

  /** Never rejects. */
  async #answer(text: string): Promise<void> {
    const command = parseCommand(text);
    if (!command) {
      const message = 'Protocol commands must be JSON with an integer id and a string method.';
      await this.#send({ type: 'error', id: null, error: 'invalid_argument', message });
      return;
    }
    try {
      await this.#execute(command);
    } catch (error) {
      await this.#send(this.#errorResponse(command.id, error));
    }
  }

  async #execute(command: ProtocolCommand): Promise<void> {
    const { id, method, params = {} } = command;
    switch (method) {
      case 'subscription.subscribe':
        await this.#subscribe(id, params);
        break;
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

  /** The response comes before the subscription's events. */
  async #subscribe(id: number, params: Params): Promise<void> {
    const { since = this.#since, ...filter } = readSubscription(params);
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
      throw new CommandError('invalid_argument', `A websocket has at most ${MAX_SUBSCRIPTIONS} subscriptions`);
    }
    const scope = await this.#options.scope(filter);
    // Nobody reads what comes after the end of the socket, and nobody would end it.
    if (this.#isClosed) return;
    const subscriptionId = uuidv7();
    const access = this.#options.access(scope);
    await this.#subscriptions.add(subscriptionId, { filter, since, access }, (kept) =>
      this.#succeed(id, { subscription_id: subscriptionId, replayed_events: kept }),
    );
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

function parseCommand(text: string): ProtocolCommand | undefined {
  try {
    const command: unknown = JSON.parse(text);
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
