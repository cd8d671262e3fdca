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

/** Applies events one after the other, as the journal does, and counts what becomes of the run. */
function count(events: RunEvent[], from?: StoredRun) {
  const changes = new StatisticChanges();
  let run = from;
  for (const each of events) {
    const after = applyRunEvent(run, each, 'workspace');
    changes.add(run, after, new Date(each.time).toISOString());
    run = after;
  }
  return { run, counts: changes.counts, latencies: changes.latencies };
}

it('events that come again, from wherever delivery begins anew, change nothing and count for nothing', () => {
  for (let upTo = 1; upTo <= STORY.length; upTo += 1) {
    for (let again = 0; again < upTo; again += 1) {
      const before = apply(STORY.slice(0, upTo));
      // While they come again, the run may be in a former status; when all have come, it is as before.
      const { run, counts, latencies } = count(STORY.slice(again, upTo), before);
      expect(run).toEqual(before);
      expect([counts, latencies]).toEqual([[], []]);
    }
  }
});

it('what becomes of a run counts in the minute in which it happens', () => {
  const late = STORY.map((each, index) => ({
    ...each,
    time: new Date(Date.UTC(2026, 10, 20, 12, index)).toISOString(),
  }));
  const { counts, latencies } = count(late);
  const minutes = counts.filter(({ step }) => step === 'minute');
  const minuteOf = (counted: 'created' | 'retried' | 'error') =>
    minutes.filter((row) => row[counted] > 0).map(({ start }) => start.slice(14, 16));
  expect([minuteOf('created'), minuteOf('retried'), minuteOf('error')]).toEqual([['00'], ['03'], ['04']]);
  expect(latencies.filter(({ step }) => step === 'day').map(({ measure, runs }) => [measure, runs])).toEqual([
    ['queue', 1],
    ['duration', 1],
  ]);
});

it('a text that no index takes and no filter names is cut', () => {
  const long = 'x'.repeat(5_000);
  const run = apply([
    event(0, 'created', { graph_id: long, creator: { kind: 'project_user', identity: long, key_id: long } }),
    event(1, 'finished', { attempt: 1, status: 'error', error: { error: long, message: 'm' } }),
  ]);
  const { graph_id, creator, creator_key_id, error_class } = run;
  expect([graph_id, creator, creator_key_id, error_class].map((text) => text?.length)).toEqual([255, 255, 255, 255]);
  expect(apply([event(0, 'created', { metadata: { long } })]).metadata).toBeNull();
});

it('a run whose creation the journal never got is known by its other events', () => {
  const run = apply(STORY.slice(1));
  expect(run).toMatchObject({ status: 'error', created_at: null, graph_id: null, queue_ms: null, duration_ms: 8000 });
  // The start of a later attempt is not that of the run.
  expect(apply(STORY.slice(2))).toMatchObject({ status: 'error', started_at: null, duration_ms: null });
  expect(apply([STORY[0]!], run)).toMatchObject({ status: 'error', graph_id: 'agent', queue_ms: 1000 });
});

it('an end is final, whatever comes later', () => {
  const end = event(10, 'finished', { attempt: 2, status: 'success' });
  expect(apply([...STORY, end])).toMatchObject({ status: 'error', ended_at: '2026-11-20T12:00:09.000Z' });
});
