import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunStreams } from './index.ts';
import { StreamFixture } from './test/stream-fixture.ts';

let fixture: StreamFixture;
/** Streams that delete non-resumable events at once, and keep resumable ones. */
let quick: RunStreams;
beforeEach(() => {
  fixture = new StreamFixture();
  quick = fixture.open({ graceMs: 1, resumableTtlMs: 60_000 });
});
afterEach(() => fixture.close());

const keyTtl = (part: 'events' | 'head') => fixture.admin.pttl(fixture.key(part));
const length = () => fixture.admin.xlen(fixture.key('events'));

describe('expiry', () => {
  it('the events of a non-resumable run expire after the grace time, and the keys with them', async () => {
    await fixture.append([1, 2], { resumable: false, by: quick });
    expect(await keyTtl('events')).toBeGreaterThan(3_600_000);
    await quick.expireRun(fixture.thread, fixture.run);
    await expect.poll(() => fixture.admin.exists(fixture.key('events'), fixture.key('ends'))).toBe(0);
  });

  it('the defaults are ten seconds for a slow reader, and two minutes after the last event of a resumable run', async () => {
    await fixture.append([1], { resumable: false, endsRun: true });
    expect(await keyTtl('events')).toBeGreaterThan(8_000);
    expect(await keyTtl('events')).toBeLessThanOrEqual(10_000);
    const other = randomUUID();
    await fixture.append([2], { runId: other, endsRun: true });
    expect(await keyTtl('events')).toBeGreaterThan(118_000);
    expect(await keyTtl('events')).toBeLessThanOrEqual(120_000);
    expect(await keyTtl('head')).toBeLessThanOrEqual(300_000);
  });

  it('the events of a deleted thread are deleted at once, and its runs append nothing more', async () => {
    await fixture.append([1, 2], { epoch: 3n });
    await fixture.streams.deleteThread({ threadId: fixture.thread, epoch: 4n });
    expect(await fixture.admin.exists(fixture.key('events'), fixture.key('ends'))).toBe(0);
    expect(await keyTtl('head')).toBeLessThanOrEqual(180_000);
    await expect(fixture.append([3], { epoch: 3n })).rejects.toMatchObject({ name: 'StaleEpochError' });
    expect(await fixture.append([1], { epoch: 4n })).toHaveLength(1);
  });

  it('a new thread with the id of a deleted one loses nothing when that is forgotten late', async () => {
    const next = randomUUID();
    await fixture.append([1, 2], { epoch: 3n });
    await fixture.append(['new'], { epoch: 9n, runId: next });
    await fixture.streams.deleteThread({ threadId: fixture.thread, epoch: 4n });
    expect(await fixture.append(['newer'], { epoch: 9n, runId: next })).toHaveLength(1);
    expect(await fixture.collect({ runId: next }).until(2)).toEqual(['new', 'newer']);
  });

  it('a thread with a run in flight keeps its stream, although an earlier run has ended', async () => {
    const next = randomUUID();
    await fixture.append([1], { resumable: false, by: quick });
    await fixture.append([2], { resumable: false, runId: next, by: quick });
    await quick.expireRun(fixture.thread, fixture.run);
    expect(await keyTtl('events')).toBeGreaterThan(3_600_000);
    await fixture.append([3], { resumable: false, runId: next, by: quick });
    expect(await fixture.collect({ runId: next }).until(2)).toEqual([2, 3]);
  });

  it('the next append deletes the expired events of ended runs, and no others', async () => {
    const [second, third] = [randomUUID(), randomUUID()];
    await fixture.append([1, 1, 1], { resumable: false, endsRun: true, by: quick });
    await fixture.append([2], { resumable: true, runId: second, endsRun: true, by: quick });
    await expect
      .poll(async () => {
        await fixture.append([3], { runId: third, by: quick });
        return length();
      })
      .toBeLessThan(5);
    expect((await fixture.collect().until(2)).slice(0, 2)).toEqual([2, 3]);
  });

  it('a run that began before the last entry of the previous run loses nothing with that run', async () => {
    const next = randomUUID();
    await fixture.append([1], { resumable: false, by: quick });
    await fixture.append([2, 3], { resumable: false, runId: next, by: quick });
    await fixture.append(['end of the first'], { resumable: false, endsRun: true, by: quick });
    expect(await keyTtl('events')).toBeGreaterThan(3_600_000);
    await expect
      .poll(async () => {
        await fixture.append([4], { resumable: false, runId: next, by: quick });
        return fixture.admin.llen(fixture.key('ends'));
      })
      .toBe(0);
    expect((await fixture.collect({ runId: next }).until(3)).slice(0, 3)).toEqual([2, 3, 4]);
    await quick.expireRun(fixture.thread, next);
    await expect.poll(() => fixture.admin.exists(fixture.key('events'))).toBe(0);
  });

  it('a run whose end could not be published ends when the next owner of the thread begins', async () => {
    const next = randomUUID();
    await fixture.append([1, 1], { resumable: false, by: quick, epoch: 1n });
    await fixture.append([2], { resumable: false, runId: next, by: quick, epoch: 2n });
    expect(await fixture.admin.llen(fixture.key('ends'))).toBe(1);
    await expect
      .poll(async () => {
        await fixture.append([3], { resumable: false, runId: next, by: quick, epoch: 2n });
        return fixture.admin.llen(fixture.key('ends'));
      })
      .toBe(0);
    expect((await fixture.collect().until(2)).slice(0, 2)).toEqual([2, 3]);
  });

  it('a client that resumes in a run whose events expired gets the gap, and one in a stored run does not', async () => {
    const second = randomUUID();
    const [first] = await fixture.append([1, 1, 1], { resumable: false, endsRun: true, by: quick });
    await expect
      .poll(async () => {
        await fixture.append([2], { runId: second, by: quick });
        return (await fixture.admin.xrange(fixture.key('events'), '-', '+', 'COUNT', 1))[0]![0];
      })
      .not.toBe(first);
    expect((await fixture.collect({ afterId: first }).until(2)).slice(0, 2)).toEqual(['gap', 2]);
    expect((await fixture.collect({ afterId: first, runId: second }).until(1))[0]).toBe(2);
    expect((await fixture.collect({ runId: second }).until(1))[0]).toBe(2);
  });

  it('ending a run twice, or one that never had events, changes nothing', async () => {
    await fixture.append([1]);
    await fixture.streams.expireRun(fixture.thread, randomUUID());
    expect(await keyTtl('events')).toBeGreaterThan(3_600_000);
    await fixture.streams.expireRun(fixture.thread, fixture.run);
    await fixture.streams.expireRun(fixture.thread, fixture.run);
    expect(await fixture.admin.llen(fixture.key('ends'))).toBe(1);
  });

  it('a connected reader gets the last event, and its run is readable for the grace time', async () => {
    const reader = fixture.collect({ runId: fixture.run });
    await fixture.append([1, 'end'], { resumable: false, endsRun: true });
    expect(await reader.until(2)).toEqual([1, 'end']);
    expect(await fixture.collect({ runId: fixture.run }).until(2)).toEqual([1, 'end']);
  });
});
