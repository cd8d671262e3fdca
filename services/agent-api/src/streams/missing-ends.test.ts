import type { RunRecord } from '@runyard/run-engine';
import { type AppendEvent, type AppendOptions, type StreamFence, StreamUnavailableError } from '@runyard/run-stream';
import { silentLogger } from '@runyard/service-kit';
import { expect, it, vi } from 'vitest';
import { MissingEnds } from './missing-ends.ts';

const runKey = { threadId: 't', runId: 'r' };
const succeeded = { status: 'success', kwargs: { resumable: true } } as Partial<RunRecord>;
const failed: Partial<RunRecord> = { status: 'error', attempt: 3, error: { error: 'Oops', message: 'no' } };
const error = { kind: 'error', event: 'error', data: '{"error":"Oops","message":"no"}' };
const end = (status: string) => ({ kind: 'run.end', event: 'end', data: `{"status":"${status}"}` });
const gap = { kind: 'stream.gap', event: 'gap', data: '{"reason":"lost","after":"5-0"}' };

interface StreamReport {
  hasBegun: boolean;
  hasEnd: boolean;
}

/** Sets up a run as it is in Postgres, and what its stream has of it, one answer after the other. */
function createMissingEnds(run: Partial<RunRecord> | undefined, answers: StreamReport[], { keepsThread = true } = {}) {
  const appended: { fence: StreamFence; events: AppendEvent[]; options: AppendOptions }[] = [];
  const expireRun = vi.fn(async () => undefined);
  let asked = 0;
  const streams = {
    expireRun,
    readRunState: async () => {
      const reported = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      if (!reported) throw new StreamUnavailableError(new Error('away'));
      return { ...reported, newestId: '5-0' };
    },
    append: async (fence: StreamFence, events: AppendEvent[], options: AppendOptions) => {
      appended.push({ fence, events, options });
      return events.map(() => '6-0');
    },
  };
  const record = run && ({ ...runKey, attempt: 1, kwargs: {}, error: null, ...run } as RunRecord);
  const engine = {
    findRuns: async () => (record ? [record] : []),
    currentEpoch: async () => (keepsThread ? 7n : undefined),
  };
  return { ends: new MissingEnds({ engine, streams, logger: silentLogger, patienceMs: 1 }), appended, expireRun };
}

const unreported = { hasBegun: true, hasEnd: false };
const reported = { hasBegun: true, hasEnd: true };
const forgotten = { hasBegun: false, hasEnd: false };

it.each([
  ['that succeeded', succeeded, 1, [gap, end('success')]],
  ['that failed', failed, 3, [gap, error, end('error')]],
  ['that is gone', undefined, 1, [gap, end('interrupted')]],
  ['that never began', { status: 'interrupted', attempt: 0 } as Partial<RunRecord>, 1, [end('interrupted')]],
])(
  'the end of a run %s is published as it is in Postgres, behind a gap where events may be missing',
  async (_, run, attempt, events) => {
    const { ends, appended } = createMissingEnds(run, [unreported]);
    expect(await ends.findOrPublish(runKey)).toEqual({
      isPublished: true,
      events: events.filter((event) => event !== gap),
    });
    expect(appended).toEqual([
      {
        fence: { threadId: 't', epoch: 7n },
        events: events.map((event) => ({ runId: 'r', attempt, ...event })),
        options: { resumable: run === succeeded, endsRun: true },
      },
    ]);
  },
);

it('the process that stored an end has some time to publish it', async () => {
  const { ends, appended } = createMissingEnds(failed, [unreported, reported]);
  expect(await ends.findOrPublish(runKey)).toMatchObject({ isPublished: true, events: [error, end('error')] });
  expect(appended).toEqual([]);
});

it('an end is published once, however many wait for it', async () => {
  const { ends, appended } = createMissingEnds(failed, [unreported]);
  await Promise.all([ends.findOrPublish(runKey), ends.findOrPublish(runKey), ends.findOrPublish(runKey)]);
  expect(appended).toHaveLength(1);
});

it('a run that had ended before gets no new end in its stream, which may only have forgotten it', async () => {
  const { ends, appended } = createMissingEnds(failed, [forgotten]);
  expect(await ends.findOrPublish(runKey, { hadEnded: true })).toEqual({ isPublished: true, events: [] });
  expect(appended).toEqual([]);
  const { ends: others, appended: missed } = createMissingEnds(failed, [unreported]);
  expect(await others.findOrPublish(runKey, { hadEnded: true })).toMatchObject({ isPublished: true });
  expect(missed).toHaveLength(1);
});

it('a follower gets the end that Postgres knows while Redis is away', async () => {
  const { ends } = createMissingEnds(failed, []);
  expect(await ends.findOrPublish(runKey)).toEqual({ isPublished: false, events: [error, end('error')] });
  expect(await ends.findOrPublish(runKey, { hadEnded: true })).toEqual({
    isPublished: false,
    events: [error, end('error')],
  });
});

it('the stream of a run whose thread is not kept ends, although nobody may append to it', async () => {
  const { ends, appended, expireRun } = createMissingEnds(failed, [unreported], { keepsThread: false });
  expect(await ends.findOrPublish(runKey)).toEqual({ isPublished: false, events: [error, end('error')] });
  expect(appended).toEqual([]);
  expect(expireRun).toHaveBeenCalledWith('t', 'r');
});
