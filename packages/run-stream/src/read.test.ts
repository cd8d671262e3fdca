import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compareIds } from './index.ts';
import { StreamFixture } from './test/stream-fixture.ts';

let fixture: StreamFixture;
beforeEach(() => {
  fixture = new StreamFixture();
});
afterEach(() => fixture.close());

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('read', () => {
  it('a reader that connects before the first event gets all of them, in order and unchanged', async () => {
    const reader = fixture.collect({ runId: fixture.run });
    for (const index of numbers(20)) await fixture.append([index, 'x\n\t😀']);
    const data = await reader.until(40);
    expect(data.filter((value) => typeof value === 'number')).toEqual(numbers(20));
    expect(reader.got[1]).toEqual({ ...fixture.event('x\n\t😀'), id: reader.got[1]!.id, isResumable: true });
    expect(reader.got.map(({ id }) => id)).toEqual(reader.got.map(({ id }) => id).sort(compareIds));
  });

  it('a reader that connects in the middle of a burst misses nothing and gets nothing twice', async () => {
    const appending = (async () => {
      for (const index of numbers(300)) await fixture.append([index]);
    })();
    const readers = [];
    for (const _ of numbers(10)) {
      readers.push(fixture.collect({ runId: fixture.run }, fixture.open()));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await appending;
    for (const reader of readers) expect(await reader.until(300)).toEqual(numbers(300));
  });

  it('a reader resumes strictly after an id, across stored and live entries', async () => {
    const ids = await fixture.append(numbers(5));
    const reader = fixture.collect({ afterId: ids[2] });
    await fixture.append([5]);
    expect(await reader.until(3)).toEqual([3, 4, 5]);
  });

  it('the position -1 is the oldest stored entry, and a bare number a millisecond', async () => {
    const ids = await fixture.append(numbers(3));
    expect(await fixture.collect({ afterId: '-1' }).until(3)).toEqual([0, 1, 2]);
    const beforeThem = String(Number(ids[0]!.split('-')[0]) - 1);
    expect((await fixture.collect({ afterId: beforeThem, runId: fixture.run }).until(3)).slice(-3)).toEqual([0, 1, 2]);
    expect(() => fixture.streams.read(fixture.thread, { afterId: 'abc' })).toThrow(TypeError);
  });

  it('a reader with $ gets later entries only', async () => {
    await fixture.append(['old']);
    const reader = fixture.collect({ afterId: '$' });
    await fixture.listened();
    // The range that finds the end of the stream may still be in flight: entries before its answer count as old.
    await expect
      .poll(async () => {
        await fixture.append(['new']);
        return reader.got.length;
      })
      .toBeGreaterThan(0);
    expect(new Set(reader.data())).toEqual(new Set(['new']));
  });

  it('a reader of a run gets its entries, and one of the thread gets all of them in one order', async () => {
    const other = randomUUID();
    const ofRun = fixture.collect({ runId: other });
    const ofThread = fixture.collect();
    await fixture.append([1, 2]);
    await fixture.append([3, 4], { runId: other });
    await fixture.append([5]);
    await fixture.append([6], { runId: other });
    expect(await ofThread.until(6)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await ofRun.until(3)).toEqual([3, 4, 6]);
    expect(await fixture.collect({ runId: other }).until(3)).toEqual([3, 4, 6]);
  });

  it('a hundred readers in one process use two connections, and the last one of a thread ends its subscription', async () => {
    const ending = new AbortController();
    const threads = numbers(100).map(() => randomUUID());
    const got = new Map<string, number>();
    const readings = threads.map(async (thread) => {
      for await (const entry of fixture.streams.read(thread, { signal: ending.signal }))
        got.set(thread, JSON.parse(entry.data));
    });
    const channels = async () => (await fixture.admin.pubsub('CHANNELS', `*${fixture.redis.prefix}*`)) as string[];
    await expect.poll(async () => (await channels()).length).toBe(100);
    await Promise.all(
      threads.map((threadId, index) =>
        fixture.streams.append({ threadId, epoch: 1n }, [fixture.event(index)], { resumable: true }),
      ),
    );
    await expect.poll(() => got.size).toBe(100);
    expect([...got]).toEqual(expect.arrayContaining(threads.map((thread, index) => [thread, index])));
    expect(await fixture.connections()).toHaveLength(2);
    ending.abort();
    await Promise.all(readings);
    await expect.poll(async () => (await channels()).length).toBe(0);
  });

  it('readers of one thread share a subscription until the last has left', async () => {
    const [first, second] = [fixture.collect(), fixture.collect()];
    await fixture.listened();
    await first.stop();
    await fixture.append(['still there']);
    expect(await second.until(1)).toEqual(['still there']);
    const third = fixture.collect();
    await second.stop();
    await fixture.append(['and again']);
    expect(await third.until(2)).toEqual(['still there', 'and again']);
  });

  it('events that are too large for a broadcast are delivered live and in order all the same', async () => {
    const [one, other] = [fixture.collect(), fixture.collect({ runId: fixture.run }, fixture.open())];
    await fixture.listened(2);
    const large = 'x'.repeat(2_000_000);
    const sent = [1, large, 2, large, 3];
    for (const data of sent) await fixture.append([data]);
    for (const reader of [one, other]) expect(await reader.until(5)).toEqual(sent);
  });

  it('a caller that stops reading leaves nothing behind', async () => {
    await fixture.append(numbers(3));
    for await (const _entry of fixture.streams.read(fixture.thread)) break;
    await expect.poll(async () => (await fixture.admin.pubsub('NUMSUB', fixture.key('live')))[1]).toBe(0);
  });

  it('a slow reader gets everything in order although far more was appended than its buffer holds', async () => {
    const slow = fixture.open({ readerBufferBytes: 4_000 });
    const ending = new AbortController();
    const entries = slow.read(fixture.thread, { runId: fixture.run, signal: ending.signal });
    await fixture.append([0]);
    const seen: unknown[] = [];
    for await (const entry of entries) {
      seen.push(JSON.parse(entry.data));
      // Hundreds of entries come while it handles one.
      const next = seen.length;
      if (next < 1500 && next % 500 === 1) {
        for (let start = next; start < next + 500; start += 50) {
          await fixture.append(numbers(50).map((index) => start + index));
        }
      }
      if (seen.length === 1501) break;
    }
    expect(seen).toEqual(numbers(1501));
  });
});
