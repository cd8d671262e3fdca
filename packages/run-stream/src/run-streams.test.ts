import { randomUUID } from 'node:crypto';
import { testRedis, waitFor } from '@runyard/test-kit';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AppendEvent, compareIds, RunStreams, type RunStreamsOptions, type StreamEntry } from './index.ts';

let redis: ReturnType<typeof testRedis>;
let admin: Redis;
let streams: RunStreams;
let opened: RunStreams[];
let stopReading: AbortController;
let thread: string;
let run: string;

function open(options: Partial<RunStreamsOptions> = {}): RunStreams {
  const instance = new RunStreams({ redis: redis.url, keyPrefix: redis.prefix, ...options });
  opened.push(instance);
  return instance;
}
beforeEach(() => {
  redis = testRedis();
  admin = new Redis(redis.url);
  opened = [];
  streams = open();
  stopReading = new AbortController();
  thread = randomUUID();
  run = randomUUID();
});
afterEach(async () => {
  stopReading.abort();
  for (const instance of opened) await instance.close();
  admin.disconnect();
  await redis.close();
});

const event = (data: unknown, runId = run): AppendEvent => ({
  runId,
  attempt: 1,
  kind: 'custom',
  event: 'custom',
  data: JSON.stringify(data),
});
const append = (
  data: unknown[],
  options: { epoch?: bigint; runId?: string; endsRun?: boolean; by?: RunStreams } = {},
) =>
  (options.by ?? streams).append(
    { threadId: thread, epoch: options.epoch ?? 1n },
    data.map((value) => event(value, options.runId)),
    { resumable: true, endsRun: options.endsRun },
  );
/** Removes what Redis knows of the thread, as a restart without persistence does. */
const wipe = async () => void (await admin.del(...(await admin.keys(`{${redis.prefix}:${thread}}:*`))));

/** Collects in the background what a reader gets. */
function collect(by: RunStreams, options: { afterId?: string; runId?: string } = {}) {
  const got: StreamEntry[] = [];
  const done = (async () => {
    for await (const entry of by.read(thread, { ...options, signal: stopReading.signal })) got.push(entry);
  })();
  return {
    got,
    done,
    data: () => got.map((entry) => (entry.kind === 'stream.gap' ? 'gap' : JSON.parse(entry.data))),
    async until(count: number) {
      await waitFor(() => got.length >= count, { what: `${count} entries` });
      return this.data();
    },
  };
}

describe('append', () => {
  it('gives strictly increasing ids within and across batches', async () => {
    const ids: string[] = [];
    for (let batch = 0; batch < 5; batch += 1) ids.push(...(await append([1, 2, 3])));
    expect(ids).toEqual([...new Set(ids)].sort(compareIds));
    expect(ids).toHaveLength(15);
  });

  it('uses at most a thousand ids of one millisecond, so that an id is one number', async () => {
    const ids = await append(Array.from({ length: 2500 }, (_, index) => index));
    expect(ids.filter((id) => Number(id.split('-')[1]) > 999)).toEqual([]);
    expect(ids).toEqual([...new Set(ids)].sort(compareIds));
    const stored = await admin.xrange(`{${redis.prefix}:${thread}}:events`, '-', '+');
    expect(stored.map(([id]) => id)).toEqual(ids);
  });

  it('refuses an older epoch, and appends nothing', async () => {
    await append(['old owner'], { epoch: 3n });
    await append(['new owner'], { epoch: 4n });
    await expect(append(['stale'], { epoch: 3n })).rejects.toMatchObject({ name: 'StaleEpochError' });
    expect(await admin.xlen(`{${redis.prefix}:${thread}}:events`)).toBe(2);
  });

  it('an append without events makes the epoch known', async () => {
    await append([], { epoch: 9n });
    await expect(append(['stale'], { epoch: 8n })).rejects.toMatchObject({ name: 'StaleEpochError' });
  });

  it('the fence outlives the events of a finished run', async () => {
    const quick = open({ resumableTtlMs: 1, fenceTtlMs: 60_000 });
    await append(['last'], { epoch: 2n, endsRun: true, by: quick });
    await waitFor(async () => (await admin.exists(`{${redis.prefix}:${thread}}:events`)) === 0);
    await expect(append(['stale'], { epoch: 1n })).rejects.toMatchObject({ name: 'StaleEpochError' });
  });

  it('ids never go back over an emptied Redis, given the last id known', async () => {
    const ahead = `${Date.now() + 3_600_000}-7`;
    const [first] = await streams.append({ threadId: thread, epoch: 1n }, [event(1)], {
      resumable: true,
      lastKnownId: ahead,
    });
    expect(compareIds(first!, ahead)).toBeGreaterThan(0);
    await wipe();
    const [second] = await append([2]);
    expect(compareIds(second!, first!)).toBeGreaterThan(0);
  });

  it('refuses data that is not JSON text before anything is sent', async () => {
    const bad = { ...event(1), data: '"a\u001eb"' };
    await expect(streams.append({ threadId: thread, epoch: 1n }, [bad], { resumable: true })).rejects.toBeInstanceOf(
      TypeError,
    );
  });
});

describe('read', () => {
  it('a reader there before the first event gets all of them, in order and with what was appended', async () => {
    const reader = collect(streams, { runId: run });
    for (let index = 0; index < 20; index += 1) await append([index, 'x\n\t😀']);
    const data = await reader.until(40);
    expect(data.filter((value) => typeof value === 'number')).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(reader.got[1]).toMatchObject({ ...event('x\n\t😀') });
    expect(reader.got.map(({ id }) => id)).toEqual(reader.got.map(({ id }) => id).sort(compareIds));
  });

  it('resumes strictly after an id, across what is kept and what comes', async () => {
    const ids = await append([0, 1, 2, 3, 4]);
    const reader = collect(streams, { afterId: ids[2] });
    await append([5]);
    expect(await reader.until(3)).toEqual([3, 4, 5]);
  });

  it('with $ gets only what is appended from then on', async () => {
    await append(['old']);
    const reader = collect(streams, { afterId: '$' });
    await waitFor(async () => (await admin.pubsub('NUMSUB', `{${redis.prefix}:${thread}}:live`))[1] === 1);
    await append(['more']);
    await append(['new']);
    const data = await reader.until(1);
    expect(data).not.toContain('old');
  });

  it('gives one run its own entries and the thread all of them in one order', async () => {
    const other = randomUUID();
    const ofRun = collect(streams, { runId: other });
    const ofThread = collect(streams);
    await append([1, 2]);
    await append([3, 4], { runId: other });
    await append([5], { runId: run });
    await append([6], { runId: other });
    expect(await ofThread.until(6)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await ofRun.until(3)).toEqual([3, 4, 6]);
    const late = collect(streams, { runId: other });
    expect(await late.until(3)).toEqual([3, 4, 6]);
  });

  it('a resume across a wiped range is told the gap, then goes on', async () => {
    const [first] = await append([1, 2, 3]);
    await wipe();
    await append([4], { by: open() });
    const reader = collect(streams, { afterId: first });
    expect(await reader.until(2)).toEqual(['gap', 4]);
  });

  it('a resume across a trimmed range is told the gap, one within what is kept is not', async () => {
    const small = open({ maxEntriesPerThread: 100 });
    const ids = await append(
      Array.from({ length: 1000 }, (_, index) => index),
      { by: small },
    );
    const kept = await admin.xrange(`{${redis.prefix}:${thread}}:events`, '-', '+');
    expect(kept.length).toBeLessThan(300);
    const across = collect(small, { afterId: ids[10] });
    expect((await across.until(kept.length + 1))[0]).toBe('gap');
    const within = collect(small, { afterId: kept[0]![0] });
    expect((await within.until(kept.length - 1))[0]).toBe(1000 - kept.length + 1);
  });

  it('the id of a gap entry resumes without the gap being told again', async () => {
    const [first] = await append([1, 2, 3]);
    await wipe();
    await append([4], { by: open() });
    const reader = collect(streams, { afterId: first });
    await reader.until(2);
    const again = collect(streams, { afterId: reader.got[0]!.id });
    expect(await again.until(1)).toEqual([4]);
  });
});
