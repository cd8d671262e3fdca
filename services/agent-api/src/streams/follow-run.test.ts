import type { ReadOptions, StreamEntry } from '@runyard/run-stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type FollowedEntry, type FollowRunOptions, followRun } from './follow-run.ts';
import type { FoundEnd } from './missing-ends.ts';
import { RunWatch } from './run-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const entry = (id: number, kind: string): StreamEntry => ({
  id: `${id}-0`,
  runId: 'r',
  attempt: 1,
  isResumable: false,
  kind,
  event: kind,
  data: '{}',
});

/** A stream that yields the entries and then stays open until the run has ended or its signal comes. */
function streamOf(entries: StreamEntry[]) {
  return {
    async *read(_threadId: string, { signal, drainSignal }: ReadOptions = {}) {
      for (const each of entries) yield each;
      const ends = [signal, drainSignal].filter((each) => each !== undefined);
      if (ends.some(({ aborted }) => aborted)) return;
      await new Promise((resolve) => {
        for (const each of ends) each.addEventListener('abort', resolve);
      });
    },
  };
}

function createWatch(inFlight: () => boolean) {
  return new RunWatch({
    findInFlight: async (runIds) => new Set(inFlight() ? runIds : []),
    onError: (error) => expect.unreachable(String(error)),
  });
}

const foundEnd = (isPublished: boolean): FoundEnd => ({
  isPublished,
  events: [
    { kind: 'error', event: 'error', data: '{}' },
    { kind: 'run.end', event: 'end', data: '{}' },
  ],
});
const noMissingEnd = { findOrPublish: () => expect.unreachable('the end was published') };

/** Returns what a follower gets of an ended run whose stream has these entries only. */
async function collectEntries(
  options: Pick<FollowRunOptions, 'streams' | 'ends' | 'isEnded'>,
): Promise<FollowedEntry[]> {
  const got: FollowedEntry[] = [];
  const watch = createWatch(() => false);
  const signal = new AbortController().signal;
  const reading = (async () => {
    for await (const entry of followRun({ watch, threadId: 't', runId: 'r', signal, ...options })) got.push(entry);
  })();
  await watch.check();
  // Gives the end time to arrive by itself.
  await vi.advanceTimersByTimeAsync(1_000);
  await reading;
  expect(watch.size).toBe(0);
  return got;
}

const kindsOf = (entries: FollowedEntry[]) => entries.map(({ kind }) => kind);

async function collect(entries: AsyncIterable<FollowedEntry>): Promise<string[]> {
  const kinds: string[] = [];
  for await (const { kind } of entries) kinds.push(kind);
  return kinds;
}

it('following ends with the end of the run', async () => {
  const watch = createWatch(() => true);
  const run = followRun({
    streams: streamOf([entry(1, 'values'), entry(2, 'run.end'), entry(3, 'values')]),
    watch,
    ends: noMissingEnd,
    threadId: 't',
    runId: 'r',
    signal: new AbortController().signal,
  });
  expect(await collect(run)).toEqual(['values', 'run.end']);
  expect(watch.size).toBe(0);
});

it('an ended run whose stream lacks the end yields a gap, and what Postgres knows', async () => {
  const got = await collectEntries({
    streams: streamOf([entry(1, 'values')]),
    ends: { findOrPublish: async () => foundEnd(false) },
  });
  expect(kindsOf(got)).toEqual(['values', 'stream.gap', 'error', 'run.end']);
  // These entries belong to no stream: a client that returns resumes after what it had.
  expect(got.slice(1).map(({ id }) => id)).toEqual([undefined, undefined, undefined]);
  expect(got[1]!.data).toBe('{"reason":"lost","after":"1-0"}');
});

it('an end that is published into the stream comes out of it, once', async () => {
  let markPublished = () => {};
  const isPublished = new Promise<void>((resolve) => {
    markPublished = resolve;
  });
  const streams = {
    async *read() {
      yield entry(1, 'values');
      await isPublished;
      for (const [index, kind] of ['stream.gap', 'error', 'run.end'].entries()) yield entry(2 + index, kind);
    },
  };
  const ends = {
    findOrPublish: async () => {
      markPublished();
      return foundEnd(true);
    },
  };
  expect(kindsOf(await collectEntries({ streams, ends }))).toEqual(['values', 'stream.gap', 'error', 'run.end']);
});

it('a follower that got a gap gets the end too, and no second gap', async () => {
  const streams = streamOf([entry(1, 'values'), entry(1, 'stream.gap')]);
  for (const isPublished of [true, false]) {
    const got = await collectEntries({ streams, ends: { findOrPublish: async () => foundEnd(isPublished) } });
    expect(kindsOf(got)).toEqual(['values', 'stream.gap', 'error', 'run.end']);
  }
});

it('a follower that comes after the end of a run gets what is kept, and no end of ours', async () => {
  const ends = { findOrPublish: async () => foundEnd(true) };
  expect(kindsOf(await collectEntries({ streams: streamOf([entry(1, 'values')]), ends, isEnded: true }))).toEqual([
    'values',
  ]);
  expect(kindsOf(await collectEntries({ streams: streamOf([]), ends }))).toEqual([]);
});

it('reading stops when the client disconnects', async () => {
  const client = new AbortController();
  const watch = createWatch(() => true);
  const run = collect(
    followRun({ streams: streamOf([]), watch, ends: noMissingEnd, threadId: 't', runId: 'r', signal: client.signal }),
  );
  client.abort();
  expect(await run).toEqual([]);
  expect(watch.size).toBe(0);
});
