import type { RunEvent } from '@runyard/contracts';
import { expect, it } from 'vitest';
import type { StoredRun } from '../runs/stored-run.ts';
import { StatisticChanges } from '../statistics/statistic-changes.ts';
import { applyRunEvent, attemptOf } from './apply-event.ts';

const ids = {
  deployment_id: 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03',
  run_id: '0199f0a4-3b5e-7c61-9d2f-5a7e8f9b0c04',
  thread_id: '0199f0a4-3b50-7a11-8c3e-4b6d7e8f9a05',
  assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
};
const revision_id = 'e4f5a6b7-c8d9-4e0f-8a1b-2c3d4e5f6a07';
const cron_id = '0199f0a4-3b50-7a11-8c3e-4b6d7e8f9a06';

function event(second: number, kind: string, data: object = {}): RunEvent {
  return {
    ...{ specversion: '1.0', id: `${kind}-${second}`, source: '/test', subject: ids.thread_id },
    type: `runyard.run.${kind}`,
    time: new Date(Date.UTC(2026, 10, 20, 12, 0, second)).toISOString(),
    datacontenttype: 'application/json',
    data: { ...ids, ...data },
  } as unknown as RunEvent;
}

const apply = (events: RunEvent[], from?: StoredRun) =>
  events.reduce<StoredRun | undefined>((run, each) => applyRunEvent(run, each, 'workspace'), from)!;

const creator = { kind: 'service_key', identity: 'me', key_id: 'k' };
const STORY = [
  event(0, 'created', { graph_id: 'agent', metadata: { customer: 'c-42', cron_id }, creator }),
  event(1, 'started', { attempt: 1, revision_id }),
  event(3, 'retried', { attempt: 1, reason: 'worker_lost' }),
  event(4, 'started', { attempt: 2, revision_id }),
  event(9, 'finished', { attempt: 2, status: 'error', error: { error: 'ValueError', message: 'no' } }),
];

it('a run has what all of its events say together', () => {
  expect(apply(STORY)).toMatchObject({
    ...ids,
    ...{ workspace_id: 'workspace', graph_id: 'agent', revision_id, cron_id, status: 'error', attempt: 2 },
    ...{ queue_ms: 1000, duration_ms: 8000, error_class: 'ValueError', error_message: 'no' },
    ...{ creator_kind: 'service_key', creator: 'me', creator_key_id: 'k' },
  });
  expect(STORY.flatMap((each) => attemptOf(each) ?? [])).toMatchObject([
    { attempt: 1, started_at: null, ended_at: '2026-11-20T12:00:03.000Z', outcome: 'worker_lost' },
    { attempt: 2, started_at: '2026-11-20T12:00:04.000Z', ended_at: null, outcome: null },
  ]);
});

it('the status follows the newest attempt', () => {
  expect(STORY.map((_, index) => apply(STORY.slice(0, index + 1)).status)).toEqual([
    'pending',
    'running',
    'pending',
    'running',
    'error',
  ]);
});

it('events that come again, from wherever delivery begins anew, change nothing and count for nothing', () => {
  for (let upTo = 1; upTo <= STORY.length; upTo += 1) {
    for (let again = 0; again < upTo; again += 1) {
      const before = apply(STORY.slice(0, upTo));
      const after = apply(STORY.slice(again, upTo), before);
      expect(after).toEqual(before);
      const changes = new StatisticChanges();
      changes.add(before, after);
      expect([changes.counts, changes.latencies]).toEqual([[], []]);
    }
  }
});

it('every order in which batches divide the events counts the same', () => {
  const totals = (parts: RunEvent[][]) => {
    const counts = { created: 0, error: 0, retried: 0, latencies: 0 };
    let run: StoredRun | undefined;
    for (const part of parts) {
      const after = apply(part, run);
      const changes = new StatisticChanges();
      changes.add(run, after);
      for (const row of changes.counts.filter(({ step }) => step === 'day')) {
        counts.created += row.created;
        counts.error += row.error;
        counts.retried += row.retried;
      }
      counts.latencies += changes.latencies.filter(({ step }) => step === 'day').length;
      run = after;
    }
    return counts;
  };
  const expected = { created: 1, error: 1, retried: 1, latencies: 2 };
  expect(totals([STORY])).toEqual(expected);
  expect(totals(STORY.map((each) => [each]))).toEqual(expected);
  expect(totals([STORY.slice(0, 2), STORY.slice(2)])).toEqual(expected);
});

it('a run whose creation the journal never got is known by its other events', () => {
  const run = apply(STORY.slice(1));
  expect(run).toMatchObject({ status: 'error', created_at: null, graph_id: null, queue_ms: null, duration_ms: 8000 });
  expect(apply([STORY[0]!], run)).toMatchObject({ status: 'error', graph_id: 'agent', queue_ms: 1000 });
});

it('an end is final, whatever comes later', () => {
  const end = event(10, 'finished', { attempt: 2, status: 'success' });
  expect(apply([...STORY, end])).toMatchObject({ status: 'error', ended_at: '2026-11-20T12:00:09.000Z' });
});
