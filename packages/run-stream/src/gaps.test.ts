import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONTROL_KINDS } from './index.ts';
import { StreamFixture } from './test/stream-fixture.ts';

let fixture: StreamFixture;
beforeEach(() => {
  fixture = new StreamFixture();
});
afterEach(() => fixture.close());

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
/** Cuts all connections of the streams, like a restart of Redis. */
const cutConnections = async () => {
  for (const line of await fixture.connections()) {
    await fixture.admin.client('KILL', 'ID', Number(/id=(\d+)/.exec(line)![1]));
  }
};

describe('gaps', () => {
  it('a resume across a deleted range gets the gap, then goes on', async () => {
    const [first] = await fixture.append([1, 2, 3]);
    await fixture.wipe();
    await fixture.append([4], { by: fixture.open() });
    const reader = fixture.collect({ afterId: first });
    expect(await reader.until(2)).toEqual(['gap', 4]);
    expect(reader.got[0]).toMatchObject({ kind: CONTROL_KINDS.gap, event: 'gap' });
    expect(JSON.parse(reader.got[0]!.data)).toEqual({ reason: 'expired', after: first });
  });

  it('a resume when nothing is left gets the gap at once', async () => {
    const [first] = await fixture.append([1, 2, 3]);
    await fixture.wipe();
    const reader = fixture.collect({ afterId: first });
    expect(await reader.until(1)).toEqual(['gap']);
    await fixture.append([4]);
    expect(await reader.until(2)).toEqual(['gap', 4]);
  });

  it('a client that joins a run whose beginning was deleted gets the gap', async () => {
    await fixture.append([1, 2, 3]);
    await fixture.wipe();
    await fixture.append([4]);
    expect(await fixture.collect({ runId: fixture.run }).until(2)).toEqual(['gap', 4]);
  });

  it('a resume across a trimmed range gets the gap, and one within the stored range does not', async () => {
    const small = fixture.open({ maxEntriesPerThread: 100 });
    const ids = await fixture.append(numbers(1000), { by: small });
    const kept = await fixture.admin.xrange(fixture.key('events'), '-', '+');
    expect(kept.length).toBeLessThan(300);
    const across = fixture.collect({ afterId: ids[10] });
    expect((await across.until(kept.length + 1))[0]).toBe('gap');
    const within = fixture.collect({ afterId: kept[0]![0] });
    expect((await within.until(kept.length - 1))[0]).toBe(1000 - kept.length + 1);
  });

  it('the id of a gap resumes without the gap again', async () => {
    const [first] = await fixture.append([1, 2, 3]);
    await fixture.wipe();
    await fixture.append([4], { by: fixture.open() });
    const reader = fixture.collect({ afterId: first });
    await reader.until(2);
    expect(await fixture.collect({ afterId: reader.got[0]!.id }).until(1)).toEqual([4]);
  });

  it('an id that was never issued is followed by no earlier entry, and by all later ones', async () => {
    await fixture.append([1]);
    const reader = fixture.collect({ afterId: `${Date.now() + 3_600_000}-0` });
    await fixture.listened();
    // Entries before the answer that names the end of the stream count as issued.
    await expect
      .poll(async () => {
        await fixture.append([2]);
        return reader.got.length;
      })
      .toBeGreaterThan(0);
    expect(new Set(reader.data())).toEqual(new Set([2]));
  });

  describe('a reader of a thread before it has entries', () => {
    const hardlyAny = { readerBufferBytes: 1 };

    /** Reads with hardly any buffer, and has found the thread empty. */
    const readEmpty = async (by = fixture.open(hardlyAny), of: { runId?: string } = {}) => {
      const reader = fixture.collect({ afterId: '-1', ...of }, by);
      await fixture.listened();
      // Answers come in the order of the commands, so that the reader has its answer too.
      for (let answered = 0; answered < 2; answered += 1) await by.check();
      return reader;
    };

    it('gets no gap when it reads later entries from the stream', async () => {
      const reader = await readEmpty();
      await Promise.all(numbers(20).map((number) => fixture.append([number])));
      expect(await reader.until(20)).toEqual(numbers(20));
    });

    it('gets a gap when some of those are deleted already', async () => {
      const reader = await readEmpty();
      const large = numbers(1000).map((number) => `${number} ${'x'.repeat(1000)}`);
      await fixture.append(large, { by: fixture.open({ maxEntriesPerThread: 100 }) });
      await waitFor(() => reader.data().at(-1) === large.at(-1), { what: 'the last entry' });
      expect(reader.data()[0]).toBe('gap');
    });

    it('gets a gap of a run that had begun before, and was deleted', async () => {
      await fixture.append([0]);
      await fixture.wipe();
      const reader = await readEmpty(undefined, { runId: fixture.run });
      const large = 'x'.repeat(600_000);
      await fixture.append([large]);
      expect((await reader.until(2))[0]).toBe('gap');
    });

    it('gets a gap when it was disconnected, because the stream may have been replaced', async () => {
      const reader = await readEmpty(fixture.streams);
      await cutConnections();
      await fixture.append([1], { by: fixture.open() });
      expect(await reader.until(2)).toEqual(['gap', 1]);
    });
  });

  it("a live reader goes on without a gap when an idle thread's stream is deleted", async () => {
    const reader = fixture.collect();
    await fixture.append([1]);
    await reader.until(1);
    await fixture.wipe();
    await fixture.append([2], { by: fixture.open() });
    expect(await reader.until(2)).toEqual([1, 2]);
  });

  it('a live reader whose connection is lost gets the entries of the meantime, without a gap', async () => {
    const other = fixture.open();
    const reader = fixture.collect();
    await fixture.append([1], { by: other });
    await reader.until(1);
    await cutConnections();
    for (const value of [2, 3, 4]) {
      await waitFor(() => fixture.append([value], { by: other }).catch(() => undefined));
    }
    await fixture.listened();
    await fixture.append([5], { by: other });
    const data = await waitFor(() => (reader.data().includes(5) ? reader.data() : undefined));
    // The cut may have hit an append that was done: its repetition follows the mark of a possible loss.
    expect(data.filter((value) => value !== 'gap')).toEqual([1, 2, 3, 4, 5]);
  });

  it('a live reader that loses its connection to a Redis that comes back empty gets the gap', async () => {
    const reader = fixture.collect();
    await fixture.append([1, 2]);
    await reader.until(2);
    await cutConnections();
    await fixture.wipe();
    await fixture.listened();
    await fixture.append([3], { by: fixture.open(), runId: randomUUID() });
    expect(await reader.until(4)).toEqual([1, 2, 'gap', 3]);
  });
});
