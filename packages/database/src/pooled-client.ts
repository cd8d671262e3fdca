import pg from 'pg';
import { isBegin, type SessionSettings, setInTransaction } from './transaction-settings.ts';

export interface PooledClientOptions {
  /** The settings of the session that bound its transactions. */
  limits: SessionSettings;
  /** False for statements without names: the server prepares none of them. */
  preparedStatements: boolean;
}

/** The part of a connection that the types of `pg` leave out. */
interface Session {
  /** Number of the session, as the other end gave it. */
  processID: number;
}

type Results = pg.QueryResult<Record<string, unknown>>[];

const READ_PID = '; SELECT pg_backend_pid()';

/**
 * Returns a class of connections that may lead to a pooler. A pooler ignores the settings with which a connection
 * starts, so there each transaction sets its limits. They are sent with its first statement, and cost no round trip.
 */
export function pooledClient({ limits, preparedStatements }: PooledClientOptions): typeof pg.Client {
  return class extends pg.Client {
    /** Undefined until the first transaction. */
    #isPooled: boolean | undefined;

    // Callers use every overload of the base class: texts, configurations and cursors, with and without a callback.
    // biome-ignore lint/suspicious/noExplicitAny: see above
    override query(...args: any[]): any {
      const query = super.query as (...all: unknown[]) => unknown;
      const [statement, ...others] = args;
      const text = typeof statement === 'string' ? statement : statement?.text;
      if (typeof text === 'string' && this.#isPooled !== false && isBegin(text)) {
        const begin = setInTransaction(text, limits) + READ_PID;
        const limited = typeof statement === 'string' ? begin : { ...statement, text: begin };
        const answer = query.call(this, limited, ...others);
        return answer instanceof Promise ? answer.then(this.#takePid) : answer;
      }
      if (!preparedStatements && statement?.name !== undefined) {
        return query.call(this, { ...statement, name: undefined }, ...others);
      }
      return query.apply(this, args);
    }

    /** Reads the number of the session, and returns the result of `BEGIN` alone. */
    readonly #takePid = (results: Results) => {
      const [row] = results.at(-1)?.rows ?? [];
      // Rows are lists in some modes.
      if (row) this.#isPooled = Object.values(row)[0] !== (this as unknown as Session).processID;
      return results[0];
    };
  };
}

/** Returns whether sessions are a pooler's: their numbers are not those that connections were given. */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  return (await readPid(client)) !== (client as unknown as Session).processID;
}

/** Returns the number of the session in which the server executes the connection's statements. */
export async function readPid(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid;
}
