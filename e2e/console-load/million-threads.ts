import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withDatabaseClient } from '@runyard/test-kit';

/**
 * Fills the database of a deployment with threads that have no state, the newest changed last.
 *
 * @param dataDir of a platform that this machine runs
 */
export async function addThreads(dataDir: string, deploymentId: string, count: number): Promise<void> {
  const [port, password] = await Promise.all(
    ['postgres.port', 'postgres.password'].map(async (name) => (await readFile(join(dataDir, name), 'utf8')).trim()),
  );
  const database = `runyard_${deploymentId.replaceAll('-', '')}`;
  await withDatabaseClient(`postgres://runyard:${password}@127.0.0.1:${port}/${database}`, async (client) => {
    // A crash of the machine that loses these writes ends the measurement anyway.
    await client.query('SET synchronous_commit = off');
    await client.query(
      `INSERT INTO thread (thread_id, status, metadata, created_at, updated_at, state_updated_at)
       SELECT md5(n::text)::uuid, 'idle', jsonb_build_object('graph_id', 'chat', 'serial', n), at, at, at
       FROM generate_series(1, $1::int) n, LATERAL (SELECT now() - make_interval(secs => n) AS at) made`,
      [count],
    );
    await client.query(
      'INSERT INTO thread_fence (thread_id) SELECT md5(n::text)::uuid FROM generate_series(1, $1::int) n',
      [count],
    );
    await client.query('VACUUM ANALYZE thread');
  });
}
