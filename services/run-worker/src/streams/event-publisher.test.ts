import { streamPosition } from '@runyard/host-protocol';
import { StaleEpochError, StreamUnavailableError } from '@runyard/run-stream';
import { waitFor } from '@runyard/test-kit';
import { expect, it, vi } from 'vitest';
import { claimedRun, FakeStreams, quietLogger, settle, workerMetrics } from '../../test/fakes.ts';
import { EventPublisher } from './event-publisher.ts';
import { endEvent, toStreamedAttempt } from './run-events.ts';

function publishing({ attempt = 1, stored = undefined as number | undefined } = {}) {
  const streams = new FakeStreams();
  const metrics = workerMetrics();
  const currentEpoch = async () => 9n;
  const storedPosition = vi.fn(async () => stored);
  const logger = quietLogger;
  const publisher = new EventPublisher({ streams, metrics, logger, currentEpoch, storedPosition, retryMs: 1 });
  const run = toStreamedAttempt(claimedRun({ attempt }));
  const event = (data: string) => ({ runId: run.runId, attempt: 1, kind: 'values', event: 'values', data });
  return { streams, metrics, publisher, run, event, storedPosition };
}

it('an attempt begins with its metadata, whose id is the run’s first', async () => {
  const { streams, publisher, run } = publishing();
  const opened = publisher.open(run, () => undefined);
  await settle();
  expect(streams.appended).toMatchObject([{ fence: run.fence, events: [{ kind: 'metadata', event: 'metadata' }] }]);
  expect(opened.firstEventId).toBe('1-0');
});

it('events that come while others are in flight go in one append after them, in order', async () => {
  const { streams, publisher, run, event } = publishing();
  let letThrough = () => {};
  streams.before = () =>
    new Promise((resolve) => {
      letThrough = resolve;
    });
  const opened = publisher.open(run, () => undefined);
  await settle();
  for (const data of ['1', '2', '3']) void opened.add([event(data)]);
  letThrough();
  await settle();
  letThrough();
  await settle();
  expect(streams.appended.map(({ events }) => events.map(({ data }) => data))).toEqual([
    [expect.stringContaining('run_id')],
    ['1', '2', '3'],
  ]);
});

it('a graph that emits faster than the stream takes is held back', async () => {
  const { streams, publisher, run, event } = publishing();
  let letThrough = () => {};
  streams.before = () =>
    new Promise((resolve) => {
      letThrough = resolve;
    });
  const opened = publisher.open(run, () => undefined);
  await settle();
  expect(opened.add([event('"small"')])).toBeUndefined();
  const held = opened.add([event(`"${'x'.repeat(600_000)}"`)]);
  const released = vi.fn();
  void held!.then(released);
  letThrough();
  await settle();
  expect(released).not.toHaveBeenCalled();
  letThrough();
  await settle();
  expect(released).toHaveBeenCalledOnce();
});

it('a failed append is counted and does not stop the run', async () => {
  const { streams, metrics, publisher, run, event } = publishing();
  const onStale = vi.fn();
  const opened = publisher.open(run, onStale);
  await settle();
  streams.before = () => Promise.reject(new StreamUnavailableError(new Error('away')));
  void opened.add([event('1'), event('2')]);
  await settle();
  streams.before = () => Promise.resolve();
  void opened.add([event('3')]);
  await settle();
  expect(onStale).not.toHaveBeenCalled();
  expect((await metrics.lostEvents.get()).values[0]!.value).toBe(2);
  expect(streams.kinds()).toEqual(['metadata', 'values']);
});

it('the end of a run is published although the next one of its thread published earlier', async () => {
  const { streams, publisher, run } = publishing();
  const opened = publisher.open(run, () => undefined);
  await settle();
  streams.before = async ({ threadId, epoch }) => {
    if (epoch < 9n) throw new StaleEpochError(threadId, epoch);
  };
  await opened.end([endEvent(run, 'success', Buffer.from('{"n":1}'))]);
  expect(streams.appended.at(-1)).toMatchObject({
    fence: { threadId: run.fence.threadId, epoch: 9n },
    events: [{ kind: 'run.end', data: '{"status":"success","values":{"n":1}}' }],
    options: { endsRun: true },
  });
});

it('the end of a run whose stream is away is published with everything before it, once that is back', async () => {
  const { streams, publisher, run, event } = publishing();
  const opened = publisher.open(run, () => undefined);
  await settle();
  streams.before = () => Promise.reject(new StreamUnavailableError(new Error('away')));
  void opened.add([event('1')]);
  await opened.end([endEvent(run, 'success', null)]);
  expect(streams.kinds()).toEqual(['metadata']);
  streams.before = () => Promise.resolve();
  await waitFor(() => streams.kinds().includes('run.end'));
  expect(streams.appended.at(-1)).toMatchObject({
    fence: run.fence,
    events: [{ data: '1' }, { kind: 'run.end' }],
    options: { endsRun: true },
  });
});

it('events that a graph emits after the end of its run are not sent, and do not stand for the end', async () => {
  const { streams, publisher, run, event } = publishing();
  const opened = publisher.open(run, () => undefined);
  await opened.end([endEvent(run, 'interrupted', null)]);
  void opened.add([event('"late"')]);
  await publisher.close();
  expect(streams.kinds()).toEqual(['metadata', 'run.end']);
});

it('a worker that stops sends what is in flight first', async () => {
  const { streams, publisher, run } = publishing();
  void publisher.open(run, () => undefined).end([endEvent(run, 'success', null)]);
  await publisher.close();
  expect(streams.kinds()).toEqual(['metadata', 'run.end']);
});

it('large values have to be read from Postgres', () => {
  const { run } = publishing();
  expect(endEvent(run, 'success', Buffer.alloc(70_000, '1')).data).toBe('{"status":"success"}');
  expect(endEvent(run, 'success', null, { isWaiting: true }).data).toBe('{"waits_for_input":true,"status":"success"}');
});

it('appends name the position behind their events: how many of the graph the attempt has sent', async () => {
  const { streams, publisher, run, event } = publishing();
  const opened = publisher.open(run, () => undefined);
  await settle();
  void opened.addGraphEvents([event('1')], 2);
  await settle();
  void opened.addGraphEvents([event('3')], 1);
  await settle();
  expect(streams.appended.map(({ options }) => options.position)).toEqual(
    [0, 2, 3].map((events) => streamPosition(1, events)),
  );
});

it('a first attempt asks nobody for positions', async () => {
  const { publisher, run, storedPosition } = publishing({ stored: streamPosition(1, 5) });
  publisher.open(run, () => undefined);
  await settle();
  expect(storedPosition).not.toHaveBeenCalled();
});

const at = streamPosition;

it.each([
  { what: 'some events', stored: at(1, 5), published: at(1, 3), lost: 2 },
  { what: 'all events of the attempt before', stored: at(2, 5), published: at(1, 9), lost: 5 },
  { what: 'what nobody remembers', stored: at(1, 5), published: undefined, lost: 5 },
  { what: 'perhaps the gap of the attempt before', stored: at(2, 0), published: at(1, 9), lost: 1 },
])('a later attempt reports the loss of $what before its own events', async ({ stored, published, lost }) => {
  const { streams, metrics, publisher, run, event } = publishing({ attempt: 3, stored });
  streams.position = published;
  const opened = publisher.open(run, () => undefined);
  void opened.addGraphEvents([event('1')], 1);
  await settle();
  // The first append keeps earlier attempts out.
  expect(streams.appended.map(({ events }) => events.map(({ kind }) => kind))).toEqual([
    [],
    ['metadata', 'stream.gap', 'values'],
  ]);
  expect(streams.appended.at(-1)!.options.position).toBe(at(3, 1));
  expect((await metrics.lostEvents.get()).values[0]!.value).toBe(lost);
});

it.each([
  { what: 'all was published', stored: at(1, 5), published: at(1, 5) },
  { what: 'more was published than is stored', stored: at(1, 5), published: at(1, 7) },
  { what: 'a later attempt has looked already', stored: at(1, 5), published: at(2, 0) },
  { what: 'nothing was emitted and nothing published', stored: at(1, 0), published: undefined },
  { what: 'no position is stored', stored: undefined, published: undefined },
])('a later attempt reports no loss when $what', async ({ stored, published }) => {
  const { streams, publisher, run } = publishing({ attempt: 3, stored });
  streams.position = published;
  publisher.open(run, () => undefined);
  await settle();
  expect(streams.kinds()).toEqual(['metadata']);
});

it('a later attempt that cannot find out whether events were lost says that they may be', async () => {
  const { streams, publisher, run, storedPosition } = publishing({ attempt: 2 });
  storedPosition.mockRejectedValue(new Error('no database'));
  const opened = publisher.open(run, () => undefined);
  await opened.end([endEvent(run, 'success', null)]);
  expect(streams.kinds()).toEqual(['metadata', 'stream.gap', 'run.end']);
});

it('a later attempt that another one has overtaken stops when it looks for lost events', async () => {
  const { streams, publisher, run } = publishing({ attempt: 2, stored: at(1, 5) });
  streams.before = async ({ threadId, epoch }) => {
    throw new StaleEpochError(threadId, epoch);
  };
  const onStale = vi.fn();
  publisher.open(run, onStale);
  await publisher.close();
  expect(onStale).toHaveBeenCalledOnce();
  expect(streams.appended).toEqual([]);
});
