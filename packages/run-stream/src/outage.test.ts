import { randomUUID } from 'node:crypto';
import { FaultLine, waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AppendEvent, CONTROL_KINDS, gapAfter, type RunStreams } from './index.ts';
import { StreamFixture } from './test/stream-fixture.ts';

const TIMEOUT_MS = 300;
let fixture: StreamFixture;
let proxy: FaultLine;
/** Streams whose Redis can be made to fail. */
let streams: RunStreams;
beforeEach(async () => {
  fixture = new StreamFixture();
  proxy = await FaultLine.to(fixture.redis.url);
  streams = fixture.open({ redis: proxy.url, timeoutMs: TIMEOUT_MS });
});
afterEach(async () => {
  await fixture.close();
  await proxy.close();
});

const appendUntilItWorks = (data: unknown[]) =>
  expect
    .poll(() =>
      fixture.append(data, { by: streams }).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);

describe.each(['refuse', 'partition'] as const)('while Redis is unavailable (%s)', (failure) => {
  it('an append fails with its error, the next one marks the gap, and ids go on', async () => {
    const ids = await fixture.append([1], { by: streams });
    await proxy[failure]();
    for (const value of [2, 3]) {
      await expect(fixture.append([value], { by: streams })).rejects.toMatchObject({ name: 'StreamUnavailableError' });
    }
    await proxy.heal();
    await appendUntilItWorks([4]);
    const reader = fixture.collect({ runId: fixture.run });
    await expect.poll(() => reader.data().at(-1)).toBe(4);
    // The first failure may have reached Redis after all, but then before what came after it.
    expect([
      [1, 'gap', 4],
      [1, 2, 'gap', 4],
    ]).toContainEqual(reader.data());
    const gap = reader.got.find(({ kind }) => kind === CONTROL_KINDS.gap)!;
    expect(JSON.parse(gap.data)).toEqual({ reason: 'lost', after: ids[0] });
  });

  it('events that a run has lost are reported to its readers, even when the next run of its thread appends first', async () => {
    const next = randomUUID();
    await fixture.append([1], { by: streams });
    const reader = fixture.collect({ runId: fixture.run });
    await reader.until(1);
    await proxy[failure]();
    await expect(fixture.append([2], { by: streams })).rejects.toMatchObject({ name: 'StreamUnavailableError' });
    await expect(fixture.append(['a'], { by: streams, runId: next, epoch: 2n })).rejects.toMatchObject({
      name: 'StreamUnavailableError',
    });
    await proxy.heal();
    const [id] = await waitFor(() =>
      fixture.append(['b'], { by: streams, runId: next, epoch: 2n }).catch(() => undefined),
    );
    await waitFor(() => reader.data().includes('gap'), { what: 'the gap' });
    expect(reader.got.filter(({ kind }) => kind === CONTROL_KINDS.gap)).toMatchObject([{ runId: fixture.run }]);
    const ofNext = fixture.collect({ runId: next });
    await waitFor(() => ofNext.got.at(-1)?.id === id, { what: 'the next run' });
    expect(ofNext.data().slice(-2)).toEqual(['gap', 'b']);
  });

  it('an appender that begins with a gap reports it once, and its readers are counted', async () => {
    await fixture.append([1], { by: streams });
    await proxy[failure]();
    await expect(fixture.append([2], { by: streams })).rejects.toMatchObject({ name: 'StreamUnavailableError' });
    await proxy.heal();
    const gap = { runId: fixture.run, attempt: 1, ...gapAfter('0-0', 'lost') };
    const appendGap = () =>
      streams.append({ threadId: fixture.thread, epoch: 1n }, [gap, fixture.event('end')], { resumable: true });
    await waitFor(() => appendGap().catch(() => undefined));
    const told: string[] = [];
    const reader = fixture.collect({ runId: fixture.run }, fixture.open({ onGap: (reason) => told.push(reason) }));
    await expect.poll(() => reader.data().at(-1)).toBe('end');
    expect(reader.data().slice(-2)).toEqual(['gap', 'end']);
    expect(reader.data().filter((value) => value === 'gap')).toHaveLength(1);
    expect(told).toEqual(['lost']);
  });

  it('events that are sent again are not missing, and those lost before are', async () => {
    const fence = { threadId: fixture.thread, epoch: 1n };
    const sendAgain = async (events: AppendEvent[]) => {
      const send = () => streams.append(fence, events, { resumable: true });
      await proxy[failure]();
      await expect(send()).rejects.toMatchObject({ name: 'StreamUnavailableError' });
      await expect(send()).rejects.toMatchObject({ name: 'StreamUnavailableError' });
      await proxy.heal();
      await waitFor(() => send().catch(() => undefined));
    };
    const reader = fixture.collect({ runId: fixture.run });
    await fixture.append([1]);
    await sendAgain([fixture.event(2), fixture.event(3)]);
    await waitFor(() => reader.data().at(-1) === 3, { what: 'what was sent again' });
    expect(reader.data()).not.toContain('gap');
    await proxy[failure]();
    await expect(fixture.append([4], { by: streams })).rejects.toMatchObject({ name: 'StreamUnavailableError' });
    await sendAgain([fixture.event(5)]);
    await waitFor(() => reader.data().at(-1) === 5, { what: 'what was sent again' });
    expect(reader.data().slice(-2)).toEqual(['gap', 5]);
  });

  it('a reader waits, and goes on at its position when Redis is back', async () => {
    const reader = fixture.collect({ runId: fixture.run }, streams);
    await fixture.append([1]);
    await reader.until(1);
    await proxy[failure]();
    await fixture.append([2, 3]);
    await proxy.heal();
    await fixture.append([4]);
    expect(await reader.until(4)).toEqual([1, 2, 3, 4]);
  });
});

describe('start and stop', () => {
  it('streams that are opened before Redis is available work once it is', async () => {
    await proxy.refuse();
    const reader = fixture.collect({ runId: fixture.run }, streams);
    await expect(streams.check()).rejects.toMatchObject({ name: 'StreamUnavailableError' });
    await proxy.heal();
    await appendUntilItWorks(['first']);
    await expect.poll(() => reader.data().at(-1)).toBe('first');
  });

  it('a reader can be ended while Redis is unavailable', async () => {
    const reader = fixture.collect({ runId: fixture.run }, streams);
    await fixture.append([1]);
    await reader.until(1);
    await proxy.refuse();
    await reader.stop();
  });
});

describe('cancel signals', () => {
  it('reach every process of the deployment, even after its connection was lost', async () => {
    const got: string[] = [];
    const other = fixture.open();
    const stop = streams.onCancel(({ runId }) => got.push(`a ${runId}`));
    other.onCancel(({ runId }) => got.push(`b ${runId}`));
    const signal = (runId: string) => fixture.streams.publishCancel({ runId, threadId: fixture.thread });
    const receivers = async () => (await fixture.admin.pubsub('NUMSUB', `{${fixture.redis.prefix}}:cancel`))[1];
    await expect.poll(receivers).toBe(2);
    await signal('1');
    await expect.poll(() => got.sort()).toEqual(['a 1', 'b 1']);
    await proxy.refuse();
    await expect.poll(receivers).toBe(1);
    await proxy.heal();
    await expect.poll(receivers).toBe(2);
    await signal('2');
    await expect.poll(() => got.sort()).toEqual(['a 1', 'a 2', 'b 1', 'b 2']);
    stop();
    await expect.poll(receivers).toBe(1);
  });
});
