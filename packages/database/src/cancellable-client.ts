import { connect } from 'node:net';
import type pg from 'pg';
import { currentWork } from './read-limits.ts';

/** Matches the ends of transactions. A cancelled one would leave open what it is to end. */
const ENDS_TRANSACTION = /^\s*(?:COMMIT|ROLLBACK)\b/i;
/** The code that asks a server to cancel a statement instead of opening a session. */
const CANCEL_REQUEST = 80_877_102;
/** Milliseconds that asking for it may take. */
const CANCEL_MS = 3_000;

/** The part of a connection that the types of `pg` leave out. */
interface Session {
  host: string;
  port: number;
  processID: number;
  secretKey: number;
}

type Callback = (error: Error | undefined, result: unknown) => void;

/** Returns a class of connections whose statements keep to the limits of the work that they belong to. */
export function cancellableClient(Base: typeof pg.Client): typeof pg.Client {
  const query = Base.prototype.query as (...args: unknown[]) => unknown;
  return class extends Base {
    // Callers use every overload of the base class: texts, configurations and cursors, with and without a callback.
    // biome-ignore lint/suspicious/noExplicitAny: see above
    override query(...args: any[]): any {
      const work = currentWork();
      const text = typeof args[0] === 'string' ? args[0] : args[0]?.text;
      if (!work || typeof text !== 'string' || ENDS_TRANSACTION.test(text)) return query.apply(this, args);
      const callback = args.findLast((arg) => typeof arg === 'function') as Callback | undefined;
      const ask = () =>
        query.apply(
          this,
          args.filter((arg) => arg !== callback),
        ) as Promise<unknown>;
      const answer = askWithin(ask, () => cancelStatement(this as unknown as Session), work);
      if (!callback) return answer;
      answer.then((result) => callback(undefined, result), callback as (error: Error) => void);
    }
  };
}

async function askWithin(
  ask: () => Promise<unknown>,
  cancel: () => Promise<void>,
  { limits, signal }: NonNullable<ReturnType<typeof currentWork>>,
): Promise<unknown> {
  signal.throwIfAborted();
  let cancelled: Promise<void> | undefined;
  const cancelOnce = () => {
    cancelled ??= cancel();
  };
  const timer = setTimeout(cancelOnce, limits.statementMs);
  signal.addEventListener('abort', cancelOnce);
  try {
    return await ask();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancelOnce);
    // Later it could meet the next statement of the connection, which may be another caller's.
    await cancelled;
  }
}

/** Asks the server, over a connection of its own, to cancel what the session executes. Never rejects. */
function cancelStatement({ host, port, processID, secretKey }: Session): Promise<void> {
  return new Promise((resolve) => {
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    const message = Buffer.alloc(16);
    [message.byteLength, CANCEL_REQUEST, processID, secretKey].forEach((word, index) => {
      message.writeInt32BE(word, index * 4);
    });
    socket.setTimeout(CANCEL_MS, () => socket.destroy());
    socket.on('connect', () => socket.write(message));
    socket.on('error', () => undefined);
    // The server closes it when it has passed the request on.
    socket.on('close', () => resolve());
    socket.resume();
  });
}
