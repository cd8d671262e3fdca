import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BEFORE_ALL, compareIds, idOfSequence, sequenceOf } from './index.ts';
import { StreamFixture } from './test/stream-fixture.ts';

let fixture: StreamFixture;
beforeEach(() => {
  fixture = new StreamFixture();
});
afterEach(() => fixture.close());

const stored = async () => (await fixture.admin.xrange(fixture.key('events'), '-', '+')).map(([id]) => id);

describe('an append', () => {
  it('returns strictly increasing ids within and across batches, from any process', async () => {
    const other = fixture.open();
    const ids: string[] = [];
    for (let batch = 0; batch < 6; batch += 1) {
      ids.push(...(await fixture.append([1, 2, 3], { by: batch % 2 ? other : fixture.streams })));
    }
    expect(ids).toHaveLength(18);
    expect(ids).toEqual([...new Set(ids)].sort(compareIds));
    expect(await stored()).toEqual(ids);
  });

  it('uses at most a thousand ids of one millisecond, so that an id is one number', async () => {
    const ids = await fixture.append(Array.from({ length: 2500 }, (_, index) => index));
    expect(ids.filter((id) => Number(id.split('-')[1]) > 999)).toEqual([]);
    const numbers = ids.map(sequenceOf);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(numbers.map(idOfSequence)).toEqual(ids);
    expect([0, 7].map(idOfSequence)).toEqual([BEFORE_ALL, BEFORE_ALL]);
    expect(await stored()).toEqual(ids);
  });

  it('with an older epoch is refused completely', async () => {
    await fixture.append(['old owner'], { epoch: 3n });
    await fixture.append(['new owner'], { epoch: 4n });
    const stale = fixture.append(['stale'], { epoch: 3n, by: fixture.open() });
    await expect(stale).rejects.toMatchObject({ name: 'StaleEpochError' });
    expect(await stored()).toHaveLength(2);
  });

  it("of a run's end is stored once, whoever sends it, even when the next run has begun before", async () => {
    const [run, next] = [fixture.run, randomUUID()];
    await fixture.append(['of the run'], { epoch: 1n });
    await fixture.append(['of the next'], { epoch: 2n, runId: next });
    await fixture.append(['end'], { epoch: 2n, runId: run, endsRun: true });
    await fixture.append(['end again'], { epoch: 2n, runId: run, endsRun: true, by: fixture.open() });
    const reader = fixture.collect({ afterId: '-1' });
    expect(await reader.until(3)).toEqual(['of the run', 'of the next', 'end']);
    expect(await stored()).toHaveLength(3);
  });

  it("of a run's end is stored once, even when its entries are deleted", async () => {
    const quick = fixture.open({ graceMs: 1 });
    const next = randomUUID();
    const [first] = await fixture.append(['end'], { resumable: false, endsRun: true, by: quick });
    await expect
      .poll(async () => {
        await fixture.append(['of the next'], { runId: next, epoch: 2n });
        return stored();
      })
      .not.toContain(first);
    expect(await fixture.streams.readRunState(fixture.thread, fixture.run)).toMatchObject({
      hasBegun: false,
      hasEnd: true,
    });
    const before = await stored();
    await fixture.append(['end again'], { epoch: 2n, resumable: false, endsRun: true });
    expect(await stored()).toEqual(before);
  });

  it('of a run shows in what the stream knows: whether it has begun, and whether its end was stored', async () => {
    const told = () => fixture.streams.readRunState(fixture.thread, fixture.run);
    expect(await told()).toEqual({ hasBegun: false, hasEnd: false, newestId: '0-0' });
    const [first] = await fixture.append(['of the run']);
    expect(await told()).toEqual({ hasBegun: true, hasEnd: false, newestId: first });
    const [end] = await fixture.append(['end'], { endsRun: true });
    expect(await told()).toEqual({ hasBegun: true, hasEnd: true, newestId: end });
  });

  it('that is refused does not end the run either', async () => {
    await fixture.append(['of the new attempt'], { epoch: 2n });
    await expect(fixture.append(['end'], { epoch: 1n, endsRun: true })).rejects.toMatchObject({
      name: 'StaleEpochError',
    });
    expect(await fixture.admin.exists(fixture.key('ends'))).toBe(0);
  });

  it('without events publishes the epoch, so that the older owner is refused before the first event', async () => {
    await fixture.append([], { epoch: 9n });
    await expect(fixture.append(['stale'], { epoch: 8n })).rejects.toMatchObject({ name: 'StaleEpochError' });
  });

  it('is fenced even when the events of a finished run are deleted', async () => {
    const quick = fixture.open({ resumableTtlMs: 1 });
    await fixture.append(['last'], { epoch: 2n, endsRun: true, by: quick });
    await expect.poll(() => fixture.admin.exists(fixture.key('events'))).toBe(0);
    await expect(fixture.append(['stale'], { epoch: 1n })).rejects.toMatchObject({ name: 'StaleEpochError' });
  });

  it('never uses lower ids after Redis was replaced by one whose clock is behind, also from another process', async () => {
    // The database, which gives epochs, and the Redis before were an hour ahead of this one.
    const epoch = Date.now() + 3_600_000;
    const [first, second] = await fixture.append([1, 2], { epoch: BigInt(epoch) });
    expect([first, second]).toEqual([`${epoch}-0`, `${epoch}-1`]);
    await fixture.wipe();
    const [third] = await fixture.append([3], { epoch: BigInt(epoch) });
    expect(compareIds(third!, second!)).toBeGreaterThan(0);
    await fixture.wipe();
    const [fourth] = await fixture.append([4], { epoch: BigInt(epoch + 1), by: fixture.open() });
    expect(compareIds(fourth!, third!)).toBeGreaterThan(0);
  });

  it('accepts event names of graphs, without the characters that separate entries', async () => {
    const event = { ...fixture.event('data'), event: 'values|no\u001fde\u001e:1\r\n' };
    await fixture.streams.append({ threadId: fixture.thread, epoch: 1n }, [event, event], { resumable: true });
    const reader = fixture.collect({ runId: fixture.run });
    expect(await reader.until(2)).toEqual(['data', 'data']);
    expect(reader.got.map(({ event: name }) => name)).toEqual(Array(2).fill('values|node:1\r\n'));
  });

  it('of data that is not JSON text is refused before anything is sent', async () => {
    const bad = { ...fixture.event(1), data: '"a\u001eb"' };
    const appending = fixture.streams.append({ threadId: fixture.thread, epoch: 1n }, [bad], { resumable: true });
    await expect(appending).rejects.toBeInstanceOf(TypeError);
    expect(await stored()).toEqual([]);
  });

  it('of several runs in one call keeps their order', async () => {
    const { streams, thread, event } = fixture;
    const runs = ['a', 'b', 'a'];
    await streams.append(
      { threadId: thread, epoch: 1n },
      runs.map((runId) => event.call(fixture, runId, runId)),
      { resumable: true },
    );
    expect(await fixture.collect().until(3)).toEqual(runs);
  });
});
