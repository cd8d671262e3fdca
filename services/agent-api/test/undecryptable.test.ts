import { createDataCipher } from '@runyard/encryption';
import { GraphRequestError } from '@runyard/host-protocol';
import type { BoundOperation, HandlerRequest } from '@runyard/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UNRESTRICTED } from '../src/access/scope.ts';
import { toCallerError } from '../src/errors/graph-errors.ts';
import { mapInvalidData } from '../src/errors/invalid-data.ts';
import type { RunOrigin } from '../src/runs/accepted-run.ts';
import { NEVER, NOBODY, openServices, type TestServices } from './services.ts';

/** The older of two things of each kind was encrypted with a key that was lost since. */
const LOST = { __error__: { error: 'SealingError', message: expect.stringContaining('LANGGRAPH_AES_KEY') } };
const SAID = { said: 'tea' };
const METADATA = { of: 'this test' };

const SCOPES = { cronScope: UNRESTRICTED, scope: UNRESTRICTED, assistantScope: UNRESTRICTED };
const ORIGIN = { ...SCOPES, creator: NOBODY, userId: '', requestId: '' };

let services: TestServices;
let threadIds: string[];
let cronIds: string[];
beforeAll(async () => {
  services = await openServices(createDataCipher('k'.repeat(32)));
  const { threads, runs, crons, pool } = services;
  threadIds = [];
  cronIds = [];
  for (let n = 0; n < 2; n += 1) {
    const { thread_id: threadId } = await threads.create(UNRESTRICTED, { metadata: METADATA });
    const origin = { ...ORIGIN, threadId } satisfies RunOrigin;
    await runs.create(origin, { assistant_id: 'echo', input: SAID });
    await services.endRuns(SAID);
    await runs.create(origin, { assistant_id: 'echo', input: SAID, after_seconds: 3600 });
    const cron = await crons.create(origin, {
      assistant_id: 'echo',
      schedule: '@yearly',
      input: SAID,
      metadata: METADATA,
    });
    threadIds.push(threadId);
    cronIds.push(cron.cron_id);
  }
  // The four bytes behind the first name the key.
  const lose = (column: string) => `${column} = overlay(${column} placing '\\x00000000' from 2 for 4)`;
  await pool.query(`UPDATE run SET ${lose('kwargs')} WHERE thread_id = $1`, [threadIds[0]]);
  await pool.query(`UPDATE thread_state SET ${lose('"values"')} WHERE thread_id = $1`, [threadIds[0]]);
  await pool.query(`UPDATE cron SET ${lose('payload')} WHERE thread_id = $1`, [threadIds[0]]);
});
afterAll(() => services?.close());

describe('an undecryptable item', () => {
  /** Returns an operation's answer as the service gives it. */
  const answerOf = (work: () => Promise<unknown>) => {
    const handler: BoundOperation['handler'] = async () => ({ status: 200, body: await work() });
    return mapInvalidData({ operation: {}, handler } as unknown as BoundOperation).handler({} as HandlerRequest);
  };
  const firstRun = async () => (await services.runs.list(UNRESTRICTED, threadIds[0]!, {}, NEVER))[0]!.run_id!;

  it('is reported as such when it is requested, with Retry-After', async () => {
    const { threads, runs, crons, retention } = services;
    const [threadId, runId, cronId] = [threadIds[0]!, await firstRun(), cronIds[0]!];
    const asked = [
      () => threads.get(UNRESTRICTED, threadId),
      () => retention.copy({ source: UNRESTRICTED, copy: UNRESTRICTED }, threadId),
      () => runs.find(UNRESTRICTED, threadId, runId),
      () => runs.findById(UNRESTRICTED, runId),
      () => crons.get(UNRESTRICTED, cronId),
      () => crons.patch(ORIGIN, cronId, { enabled: false }),
    ];
    for (const ask of asked) {
      await expect(answerOf(ask)).rejects.toMatchObject({
        status: 503,
        message: expect.stringContaining('LANGGRAPH_AES_KEY'),
        headers: { 'retry-after': '30' },
      });
    }
    const { rows } = await services.pool.query('SELECT count(*)::int AS n FROM thread');
    expect(rows).toEqual([{ n: 2 }]);
  });

  it('in the history of a thread is reported the same way', () => {
    const refused = new GraphRequestError('unreadable', 'LANGGRAPH_AES_KEY is not configured.');
    expect(toCallerError(refused)).toMatchObject({ status: 503, message: refused.message });
  });

  it('is shown as such in lists, and hides nothing else of itself and nothing of others', async () => {
    const { threads, runs, crons } = services;
    const sorted = { sort_by: 'created_at', sort_order: 'asc' } as const;
    const found = await threads.search(UNRESTRICTED, { metadata: METADATA, ...sorted }, NEVER);
    expect(found.rows).toMatchObject(
      threadIds.map((thread_id, index) => ({ thread_id, metadata: METADATA, values: index === 0 ? LOST : SAID })),
    );
    expect(found.rows[0]!.interrupts).toEqual({});
    const both = await Promise.all(threadIds.map((threadId) => runs.list(UNRESTRICTED, threadId, {}, NEVER)));
    expect(both[0]).toMatchObject([
      { status: 'pending', kwargs: LOST },
      { status: 'success', kwargs: LOST },
    ]);
    expect(both[1]).toMatchObject([{ kwargs: { input: SAID } }, { kwargs: { input: SAID } }]);
    const listed = await crons.search(UNRESTRICTED, { sort_by: 'created_at', sort_order: 'asc' }, NEVER);
    expect(listed.rows).toMatchObject(
      cronIds.map((cron_id, index) => ({
        cron_id,
        schedule: '@yearly',
        payload: index === 0 ? LOST : { input: SAID },
      })),
    );
  });

  it('can be cancelled and removed', async () => {
    const { threads, runs, crons } = services;
    const [threadId, runId] = [threadIds[0]!, await firstRun()];
    expect(await runs.cancel(UNRESTRICTED, { threadId, runIds: [runId] }, 'interrupt', '')).toMatchObject([{ runId }]);
    await runs.delete(UNRESTRICTED, threadId, runId);
    await crons.delete(UNRESTRICTED, cronIds[0]!);
    await threads.delete(UNRESTRICTED, threadId);
    expect(await threads.count(UNRESTRICTED, { metadata: METADATA })).toBe(1);
  });
});
