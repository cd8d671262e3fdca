import { randomUUID } from 'node:crypto';
import { ConfigError } from '@runyard/service-kit';
import type pg from 'pg';
import { isPooled, readPid } from './pooled-client.ts';

const PROBLEM =
  'A transaction pooler between this process and Postgres does not keep prepared statements. Use PgBouncer 1.21 or newer with max_prepared_statements above 0, or set DATABASE_PREPARED_STATEMENTS=off.';
/** Looks at which sessions serve two connections: a pooler that alternates between two sessions shows it in these. */
const ROUNDS = 3;

/**
 * Checks that what the pool prepares is there when it is executed. A pooler that hands sessions from transaction to
 * transaction has to translate the names of prepared statements, else statements fail later, under load.
 *
 * @throws ConfigError when statements would fail
 */
export async function checkPooler(pool: pg.Pool): Promise<void> {
  await withClient(pool, async (first) => {
    if (!(await isPooled(first)) || !(await reachesServerByName(first))) return;
    await withClient(pool, async (second) => {
      if (await shareSessions(first, second)) throw new ConfigError([PROBLEM]);
    });
  });
}

async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    // It may have prepared statements that belong to the check alone.
    client.release(true);
  }
}

/** Returns whether the server knows a statement under the name that this process gave it. */
async function reachesServerByName(client: pg.ClientBase): Promise<boolean> {
  const name = `check_pooler_${randomUUID()}`;
  await client.query('BEGIN');
  const { rows } = await client.query<{ is_known: boolean }>({
    name,
    text: 'SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name = $1) AS is_known',
    values: [name],
  });
  const isKnown = rows[0]!.is_known;
  if (isKnown) await client.query(`DEALLOCATE "${name}"`);
  await client.query('COMMIT');
  return isKnown;
}

/** Returns whether two connections are served by the same session, or one by several. */
async function shareSessions(first: pg.ClientBase, second: pg.ClientBase): Promise<boolean> {
  const ofFirst = new Set<number>();
  const ofSecond = new Set<number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    ofFirst.add(await readPid(first));
    ofSecond.add(await readPid(second));
  }
  return ofFirst.size > 1 || ofSecond.size > 1 || [...ofFirst].some((pid) => ofSecond.has(pid));
}
