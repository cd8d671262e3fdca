import { BEFORE_ALL, CONTROL_KINDS, compareIds, type ReadOptions, type StreamEntry } from '@runyard/run-stream';
import { expect, it } from 'vitest';
import { countAndFollowEvents, type EventSources, followEvents } from './follow-events.ts';
import type { ThreadAccess } from './thread-access.ts';
import type { ThreadEvent } from './thread-event.ts';

/** The time of the first entry. */
const BASE_MS = 1_790_000_000_000;
const RUN = { runId: 'r', attempt: 1, isResumable: true };
const entry = (at: number, kind: string, event: string, data: unknown): StreamEntry => ({
  ...RUN,
  id: `${BASE_MS + at}-0`,
  kind,
  event,
  data: JSON.stringify(data),
});
const value = (at: number, data: unknown) => entry(at, 'v2.values', 'values', { timestamp: 1, data });
const BEGUN = entry(1, 'metadata', 'metadata', { run_id: 'r' });
const ENDED = entry(9, CONTROL_KINDS.end, 'end', { status: 'success' });
const LOST = entry(2, CONTROL_KINDS.gap, 'gap', { reason: 'lost', after: null });

/** A stream with entries that are kept, and one that comes while it is read on. */
function streamOf(kept: StreamEntry[], live: StreamEntry) {
  const reads: string[] = [];
  async function* read(_threadId: string, { afterId = BEFORE_ALL, drainSignal }: ReadOptions) {
    const after = Math.max(Number.parseInt(afterId, 10) - BASE_MS, 0);
    reads.push(`${drainSignal ? 'kept' : 'on'} after ${after}`);
    for (const each of kept) if (compareIds(each.id, afterId) > 0 || (each === LOST && drainSignal)) yield each;
    if (!drainSignal) yield live;
  }
  const sources = {
    streams: { read },
    watch: { watch: () => () => undefined },
    ends: { findOrPublish: async () => ({ isPublished: false, events: [] }) },
  } as unknown as EventSources;
  return { sources, reads };
}

const access = { admits: async () => true, graphName: 'echo' } as unknown as ThreadAccess;
const thread = (since?: number) => ({
  threadId: 't',
  access,
  filter: { channels: ['values', 'lifecycle'] },
  since,
  signal: new AbortController().signal,
});
async function all(events: AsyncIterable<ThreadEvent>): Promise<ThreadEvent[]> {
  const found: ThreadEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

it('a subscription reads what is kept once: it is counted, and goes on from there', async () => {
  const kept = [BEGUN, value(2, 'a'), value(3, 'b')];
  const { sources, reads } = streamOf(kept, ENDED);
  const expected = await all(followEvents(sources, thread()));
  expect(expected).toHaveLength(4);
  reads.length = 0;
  const counted = await countAndFollowEvents(sources, thread());
  expect([counted.kept, await all(counted.events)]).toEqual([3, expected]);
  expect(reads).toEqual(['kept after 0', 'on after 3']);
});

it('a subscription that goes on in the middle reads each entry once too, and gets the events after its place', async () => {
  const kept = [BEGUN, value(2, 'a'), value(3, 'b')];
  const { sources, reads } = streamOf(kept, ENDED);
  const [, first] = await all(followEvents(sources, thread()));
  const expected = await all(followEvents(sources, thread(first!.seq)));
  reads.length = 0;
  const counted = await countAndFollowEvents(sources, thread(first!.seq));
  expect([counted.kept, await all(counted.events)]).toEqual([1, expected]);
  expect(reads).toEqual(['kept after 0', 'kept after 2', 'on after 3']);
});

it.each([
  ['more than is held', [BEGUN, value(2, 'x'.repeat(2 * 1024 * 1024))]],
  ['nothing that could be read to its end', [BEGUN, value(2, 'a'), LOST]],
])('a subscription to %s reads it again as its client takes it', async (_, kept) => {
  const { sources } = streamOf(kept, ENDED);
  const expected = await all(followEvents(sources, thread()));
  const counted = await countAndFollowEvents(sources, thread());
  expect([counted.kept, await all(counted.events)]).toEqual([2, expected]);
});
