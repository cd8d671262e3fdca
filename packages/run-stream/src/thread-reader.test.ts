import { NO_ENCRYPTION } from '@runyard/encryption';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EntryCodec } from './entry-codec.ts';
import { compareIds } from './event-id.ts';
import type { ReaderLimits } from './live-buffer.ts';
import type { RangePage } from './range-page.ts';
import { ReadBudget } from './read-budget.ts';
import { type ReaderSource, ThreadReader } from './thread-reader.ts';
import type { StreamEntry } from './types.ts';

const codec = new EntryCodec(NO_ENCRYPTION);

/** A stream in memory whose deliveries the test controls. */
class FakeStream implements ReaderSource {
  readonly stored: { id: string; text: string }[] = [];
  readonly gaps: string[] = [];
  ranges = 0;
  isAway = false;
  reader: ThreadReader | undefined;

  join(_threadId: string, listener: ThreadReader): void {
    this.reader = listener;
  }
  leave(): void {
    this.reader = undefined;
  }
  onGap(reason: string): void {
    this.gaps.push(reason);
  }
  prepare(): undefined {
    return undefined;
  }
  decode(id: string, text: string): StreamEntry {
    return codec.decode(id, text);
  }
  async range(_threadId: string, after: string): Promise<RangePage> {
    this.ranges += 1;
    if (this.isAway) throw new Error('away');
    const from = after === '' ? '0-0' : after;
    const entries = this.stored.filter(({ id }) => compareIds(id, from) > 0);
    const last = this.stored.at(-1)?.id;
    return {
      last,
      floor: '0-0',
      start: '',
      from,
      scannedTo: entries.at(-1)?.id ?? from,
      hasMore: false,
      begin: '',
      entries: entries.map(({ id, text }) => [id, text]),
    };
  }
  /** Appends entries at the ids `<first>-0 … <first>-(count-1)`; returns the message that announces them. */
  append(ms: number, count = 1, data = 'x'): string {
    const predecessor = this.stored.at(-1)?.id ?? '0-0';
    const texts: string[] = [];
    for (let seq = 0; seq < count; seq += 1) {
      const text = codec.encode({ runId: 'run', attempt: 1, kind: 'k', event: 'e', data }, true);
      this.stored.push({ id: `${ms}-${seq}`, text });
      texts.push(text);
    }
    return [`${predecessor}\u001f${ms}-0`, ...texts].join('\u001e');
  }
}

let stream: FakeStream;
let reader: ThreadReader;
let got: StreamEntry[];
let ending: AbortController;
let over: AbortController;
let budget: ReadBudget;
let done: Promise<void>;

const limits = (bufferBytes = 100_000): ReaderLimits => ({ bufferBytes, budget });

function read(options: { afterId?: string; maxBufferBytes?: number; pull?: () => Promise<void> } = {}): void {
  reader = new ThreadReader(
    stream,
    'thread',
    { afterId: options.afterId, signal: ending.signal, drainSignal: over.signal },
    limits(options.maxBufferBytes),
  );
  done = (async () => {
    for await (const entry of reader.entries()) {
      got.push(entry);
      await options.pull?.();
    }
  })();
  reader.onSubscribed(false);
}
const ids = () => got.map(({ id }) => id);
const gotAll = (...wanted: string[]) => expect.poll(ids).toEqual(wanted);
const hear = (message: string) => reader.onBatch(codec.decodeBatch(message));

beforeEach(() => {
  stream = new FakeStream();
  got = [];
  ending = new AbortController();
  over = new AbortController();
  budget = new ReadBudget(1024 * 1024);
});
afterEach(async () => {
  ending.abort();
  await done;
  expect(budget.heldBytes).toBe(0);
});

describe('ThreadReader', () => {
  it('goes on live without reading the stream when each batch continues the last', async () => {
    stream.append(1);
    read();
    await gotAll('1-0');
    const before = stream.ranges;
    hear(stream.append(2, 2));
    hear(stream.append(3));
    await gotAll('1-0', '2-0', '2-1', '3-0');
    expect(stream.ranges).toBe(before);
  });

  it('reads the stream when a batch shows that one was missed', async () => {
    stream.append(1);
    read();
    await gotAll('1-0');
    stream.append(2);
    hear(stream.append(3));
    await gotAll('1-0', '2-0', '3-0');
  });

  it('leaves out entries that it has read from the stream already, even within a batch', async () => {
    const first = stream.append(1, 2);
    read();
    await gotAll('1-0', '1-1');
    hear(first);
    const second = stream.append(2, 3);
    stream.stored.splice(3);
    reader.onSubscribed(true);
    await gotAll('1-0', '1-1', '2-0');
    hear(second);
    await gotAll('1-0', '1-1', '2-0', '2-1', '2-2');
  });

  it('limits what waits for a slow client, which gets the rest from the stream, in order', async () => {
    let letGo: (() => void) | undefined;
    const stuck = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    stream.append(1);
    read({ maxBufferBytes: 50_000, pull: () => stuck });
    await gotAll('1-0');
    let largest = 0;
    for (let ms = 2; ms < 1002; ms += 1) {
      hear(stream.append(ms, 1, 'x'.repeat(1000)));
      largest = Math.max(largest, reader.waitingBytes);
    }
    expect(largest).toBeLessThanOrEqual(50_000);
    letGo!();
    await gotAll(...stream.stored.map(({ id }) => id));
  });

  it('delivers an entry larger than the buffer live all the same', async () => {
    stream.append(1);
    read({ maxBufferBytes: 100 });
    await gotAll('1-0');
    const before = stream.ranges;
    hear(stream.append(2, 1, 'x'.repeat(10_000)));
    await gotAll('1-0', '2-0');
    expect(stream.ranges).toBe(before);
  });

  it('limits what waits for all slow clients together, and a used up budget costs no event', async () => {
    let letGo: (() => void) | undefined;
    const stuck = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    budget = new ReadBudget(20_000);
    stream.append(1);
    read({ pull: () => stuck });
    await gotAll('1-0');
    let largest = 0;
    for (let ms = 2; ms < 102; ms += 1) {
      hear(stream.append(ms, 1, 'x'.repeat(1000)));
      largest = Math.max(largest, budget.heldBytes);
    }
    expect(largest).toBeLessThanOrEqual(20_000);
    letGo!();
    await gotAll(...stream.stored.map(({ id }) => id));
  });

  it('yields the remaining entries and ends when nothing more will come', async () => {
    stream.append(1);
    read();
    await gotAll('1-0');
    stream.append(2, 2);
    over.abort();
    await done;
    expect(ids()).toEqual(['1-0', '2-0', '2-1']);
  });

  it('reports an end that cannot be read as a gap', async () => {
    stream.append(1);
    read();
    await gotAll('1-0');
    stream.isAway = true;
    over.abort();
    await done;
    expect(got.at(-1)).toMatchObject({ kind: 'stream.gap', id: '1-0', data: '{"reason":"lost","after":"1-0"}' });
  });

  it('reports an emptied stream as a gap at once, and once', async () => {
    stream.append(1, 2);
    read();
    await gotAll('1-0', '1-1');
    stream.stored.splice(0);
    reader.onSubscribed(true);
    await expect.poll(() => got.at(-1)).toMatchObject({ kind: 'stream.gap', id: '1-1' });
    reader.onSubscribed(true);
    over.abort();
    await done;
    expect(got.map(({ kind }) => kind)).toEqual(['k', 'k', 'stream.gap']);
    expect(stream.gaps).toEqual(['expired']);
  });

  it('an id that was never issued hides nothing of a thread that begins later', async () => {
    read({ afterId: '99-0' });
    await expect.poll(() => stream.gaps).toEqual(['expired']);
    hear(stream.append(1, 2));
    await gotAll('99-0', '1-0', '1-1');
  });

  it('ends at the signal and leaves, even before it was subscribed', async () => {
    read();
    ending.abort();
    await done;
    expect(stream.reader).toBeUndefined();
    const never = new ThreadReader(stream, 'thread', { signal: AbortSignal.abort() }, limits(100));
    for await (const _entry of never.entries()) throw new Error('there is none');
  });
});
