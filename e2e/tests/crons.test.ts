import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { newClient } from '../harness/client.ts';

const client = newClient();
const metadata = () => ({ mark: randomUUID() });

it('the SDK creates crons, finds, counts, changes and deletes them', async () => {
  const mark = metadata();
  const created = await client.crons.create('echo', {
    schedule: '0 9 * * MON-FRI',
    timezone: 'Europe/Berlin',
    input: { messages: [{ role: 'user', content: 'good morning' }] },
    metadata: mark,
    endTime: '2100-01-01T00:00:00Z',
    onRunCompleted: 'keep',
    streamMode: ['updates'],
  });
  expect(created).toMatchObject({
    cron_id: expect.any(String),
    thread_id: null,
    schedule: '0 9 * * MON-FRI',
    metadata: mark,
    payload: { stream_mode: ['updates'], config: { configurable: { cron_id: created.cron_id } } },
  });
  const local = new Date(created.next_run_date).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' });
  expect(local).toBe('09:00:00');

  const thread = await client.threads.create();
  const onThread = await client.crons.createForThread(thread.thread_id, 'echo', { schedule: '@daily', metadata: mark });
  expect(onThread.thread_id).toBe(thread.thread_id);

  const found = await client.crons.search({ metadata: mark, sortBy: 'created_at', sortOrder: 'asc' });
  expect(found.map((cron) => cron.cron_id)).toEqual([created.cron_id, onThread.cron_id]);
  expect(await client.crons.count({ metadata: mark })).toBe(2);
  expect(await client.crons.search({ metadata: mark, threadId: thread.thread_id })).toHaveLength(1);

  const paused = await client.crons.update(created.cron_id, { enabled: false, endTime: null, metadata: { more: 1 } });
  expect(paused).toMatchObject({ enabled: false, end_time: null, metadata: { ...mark, more: 1 } });
  expect(await client.crons.search({ metadata: mark, enabled: true })).toHaveLength(1);

  await client.crons.delete(created.cron_id);
  await client.threads.delete(thread.thread_id);
  expect(await client.crons.count({ metadata: mark })).toBe(0);
});

it('the SDK gets an error for a wrong schedule', async () => {
  await expect(client.crons.create('echo', { schedule: '0 0 31 2 *' })).rejects.toThrow(/422.*never comes/s);
});
