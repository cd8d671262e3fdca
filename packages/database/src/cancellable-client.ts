import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { currentWork } from './read-limits.ts';

/** Matches the ends of transactions. A cancelled one would leave open what it is to end. */
const ENDS_TRANSACTION = /^\s*(?:COMMIT|ROLLBACK)\b/i;
/** The code that asks a server to cancel a statement instead of opening a session. */
const CANCEL_REQUEST = 80_877_102;
/** Milliseconds that asking for it may take. */
const CANCEL_MS = 3_000;
/** Milliseconds until a server that goes on with the statement is asked again. */
const CANCEL_AGAIN_MS = 1_000;

/** The part of a connection that the types of `pg` leave out. */
interface Session {
  host: string;
  port: number;
  processID: number;
  secretKey: number;
  end(): Promise<void>;
}

type Callback = (error: Error | undefined, result: unknown) => void;

/** Returns a class of connections whose statements keep to the limits of the work that they belong to. */
export function cancellableClient(Base: typeof pg.Client): typeof pg.Client {
  const query = Base.prototype.query as (...args: unknown[]) => unknown;
  return class extends Base {
    /** Settles when no request to cancel an earlier statement of limited work can meet the next one. */
    #before: Promise<unknown> = Promise.resolve();

    // Callers use every overload of the base class: texts, configurations and cursors, with and without a callback.
    // biome-ignore lint/suspicious/noExplicitAny: see above
    override query(...args: any[]): any {
      const work = currentWork();
      const text = typeof args[0] === 'string' ? args[0] : args[0]?.text;
      if (!work || typeof text !== 'string') return query.apply(this, args);
      const callback = args.findLast((arg) => typeof arg === 'function') as Callback | undefined;
      const ask = () =>
        query.apply(
          this,
          args.filter((arg) => arg !== callback),
        ) as Promise<unknown>;
      const cancel = (ended: AbortSignal) => cancelUntil(ended, this as unknown as Session);
      const answer = this.#before.then(() => (ENDS_TRANSACTION.test(text) ? ask() : askWithin(ask, cancel, work)));
      this.#before = answer.catch(() => undefined);
      if (!callback) return answer;
      answer.then((result) => callback(undefined, result), callback as (error: Error) => void);
    }
  };
}

/** @param cancel asks the server to cancel the statement, until the signal says that it has ended */
async function askWithin(
  ask: () => Promise<unknown>,
  cancel: (ended: AbortSignal) => Promise<void>,
  { limits, signal }: NonNullable<ReturnType<typeof currentWork>>,
): Promise<unknown> {
  signal.throwIfAborted();
  const ended = new AbortController();
  let cancelling: Promise<void> | undefined;
  const beginToCancel = () => {
    cancelling ??= cancel(ended.signal);
  };
  const timer = setTimeout(beginToCancel, limits.statementMs);
  signal.addEventListener('abort', beginToCancel);
  try {
    return await ask();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', beginToCancel);
    ended.abort();
    // Later it could meet the next statement of the connection, which may be another caller's.
    await cancelling;
  }
}

/**
 * Asks for a statement to be cancelled until it has ended: a request that comes before the server has begun it is lost.
 * Closes the session when one of the requests may still arrive. Never rejects.
 */
async function cancelUntil(ended: AbortSignal, session: Session): Promise<void> {
  let isOnItsWay = false;
  while (!ended.aborted) {
    if (!(await cancelStatement(session))) isOnItsWay = true;
    await pause(CANCEL_AGAIN_MS, undefined, { signal: ended }).catch(() => undefined);
  }
  if (isOnItsWay) void session.end();
}

/**
 * Asks the server, over a connection of its own, to cancel what the session executes. Never rejects.
 *
 * @returns false when the request was given up, and may still arrive
 */
function cancelStatement({ host, port, processID, secretKey }: Session): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    const message = Buffer.alloc(16);
    [message.byteLength, CANCEL_REQUEST, processID, secretKey].forEach((word, index) => {
      message.writeInt32BE(word, index * 4);
    });
    socket.setTimeout(CANCEL_MS, () => {
      resolve(false);
      socket.destroy();
    });
    socket.on('connect', () => socket.write(message));
    socket.on('error', () => undefined);
    // The server closes it when it has passed the request on.
    socket.on('close', () => resolve(true));
    socket.resume();
  });
}
