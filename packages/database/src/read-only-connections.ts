import type { EventEmitter } from 'node:events';
import type pg from 'pg';
import { READ_ONLY } from './sql-errors.ts';

/**
 * Closes connections whose server has refused a write because it takes none, as soon as they are given back. A pool
 * keeps a connection for as long as it is used: to a primary that became a standby, it would be used for ever.
 */
export function closeReadOnlyConnections(pool: pg.Pool): void {
  const readOnly = new WeakSet<pg.PoolClient>();
  pool.on('connect', (client) => {
    const { connection } = client as unknown as { connection: EventEmitter };
    connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code === READ_ONLY) readOnly.add(client);
    });
  });
  // The pool decides after this event whether it keeps the connection, and keeps none that ends.
  pool.on('release', (_error, client) => {
    if (readOnly.has(client)) void client.end().catch(() => undefined);
  });
}
