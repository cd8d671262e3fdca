import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { DELETE_RUN_WRITES } from '../src/runs/delete-checkpoints.ts';
import { openEngine } from './engine-fixture.ts';

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

it.each(['analyzed', 'not analyzed yet'])(
  'a rollback reads what its run has written, and not the other writes of its thread (%s)',
  async (statistics) => {
    const fixture = await openEngine();
    const [threadId, runId, others] = [randomUUID(), randomUUID(), randomUUID()];
    const insert = `INSERT INTO checkpoint_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, run_id, channel, type, data)
                    SELECT $1, '', n::text, $4, 0, $2, 'messages', 'json', '[]' FROM generate_series(1, $3::integer) AS n`;
    await fixture.rows(insert, [threadId, others, 20_000, 'others']);
    await fixture.rows(insert, [threadId, runId, 5, 'own']);
    if (statistics === 'analyzed') await fixture.rows('ANALYZE checkpoint_write');
    const [explained] = await fixture.rows(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${DELETE_RUN_WRITES.text}`, [
      [threadId],
      [runId],
    ]);
    const [{ Plan: plan }] = explained!['QUERY PLAN'] as [{ Plan: Plan }];
    // Twenty thousand rows are at least two hundred pages.
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(100);
    const [left] = await fixture.rows('SELECT count(*)::integer AS writes FROM checkpoint_write');
    expect(left).toEqual({ writes: 20_000 });
    await fixture.close();
  },
);
