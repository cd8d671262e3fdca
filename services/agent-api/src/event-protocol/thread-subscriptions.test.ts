import { EventEmitter, once } from 'node:events';
import {
  BEFORE_ALL,
  CONTROL_KINDS,
  compareIds,
  gapAfter,
  type ReadOptions,
  type StreamEntry,
} from '@runyard/run-stream';
import { waitFor } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import type { ThreadAccess } from '../threads/thread-access.ts';
import type { EventSources } from './event-follower.ts';
import { type FollowedThread, followEvents } from './follow-events.ts';
import type { ThreadEvent } from './thread-event.ts';
import { type NewSubscription, ThreadSubscriptions } from './thread-subscriptions.ts';

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
const LOST: StreamEntry = { ...RUN, id: BEFORE_ALL, ...gapAfter(BEFORE_ALL, 'lost') };

/** The stream of a thread, to which entries are added. */
class Stream {
  readonly reads: string[] = [];
  /** The number of runs that are watched, and of readers. */
  watched = 0;
  reading = 0;
  /** The number of entries that those who go on have taken. */
  handed = 0;
  readonly sources = {
    streams: { read: (_threadId: string, options: ReadOptions) => this.#read(options) },
    watch: {
      watch: () => {
        this.watched += 1;
        return () => (this.watched -= 1);
      },
    },
    ends: { findOrPublish: async () => ({ isPublished: false, events: [] }) },
  } as unknown as EventSources;
  #entries: StreamEntry[] = [];
  /** False while Redis does not answer. */
  #answers = true;
  readonly #changed = new EventEmitter();

  add(...entries: StreamEntry[]): void {
    this.#entries.push(...entries);
    this.#changed.emit('change');
  }

  /** Forgets what there is, as when it has expired. */
  trim(): void {
    this.#entries = [];
  }

  setAnswers(answers: boolean): void {
    this.#answers = answers;
    this.#changed.emit('change');
  }

  async *#read({ afterId = BEFORE_ALL, drainSignal, signal }: ReadOptions): AsyncGenerator<StreamEntry> {
    const after = Math.max(Number.parseInt(afterId, 10) - BASE_MS, 0);
    this.reads.push(`${drainSignal ? 'kept' : 'on'} after ${after}`);
    this.reading += 1;
    // An id that was never issued is taken for that of the newest entry.
    const newest = this.#entries.at(-1)?.id ?? BEFORE_ALL;
    let position = compareIds(afterId, newest) > 0 ? newest : afterId;
    try {
      while (!signal?.aborted) {
        const next = this.#answers ? this.#entries.find(({ id }) => compareIds(id, position) > 0) : undefined;
        if (next) {
          position = next.id;
          yield next;
          if (!drainSignal) this.handed += 1;
        } else if (drainSignal) {
          if (!this.#answers) {
            await new Promise((resolve) => setImmediate(resolve));
            yield LOST;
          }
          return;
        } else {
          await once(this.#changed, 'change', { signal }).catch(() => undefined);
        }
      }
    } finally {
      this.reading -= 1;
    }
  }
}

/** A client of the thread, with what was written to it. */
class Client {
  readonly written: unknown[] = [];
  readonly events: ThreadEvent[] = [];
  readonly subscriptions: ThreadSubscriptions;

  constructor({ sources }: Stream) {
    const write = (event: ThreadEvent) => {
      this.events.push(event);
      const { data } = JSON.parse(event.params) as { data: { event?: string; reason?: string } };
      this.written.push(event.channel === 'values' ? data : (data.event ?? data.reason));
      return undefined;
    };
    const onFailure = (error: unknown) => this.written.push(error);
    this.subscriptions = new ThreadSubscriptions({ threadId: 't', sources, write, onFailure });
  }

  subscribe(channels: FollowedThread['filter']['channels'], wanted: Partial<FollowedThread> = {}): Promise<void> {
    const { since, ...other } = wanted;
    return this.subscriptions.add([{ ...this.subscription(channels), ...other }], since);
  }

  subscription(channels: FollowedThread['filter']['channels']): NewSubscription {
    const answer = async (kept: number) => void this.written.push({ kept });
    return { id: channels.join(), access: OPEN, filter: { channels }, answer };
  }

  async gets(...written: unknown[]): Promise<void> {
    await waitFor(() => this.written.length >= written.length, { what: 'what is written to the client' });
    expect(this.written.splice(0)).toEqual(written);
  }
}

const OPEN = { admits: async () => true, graphName: 'echo' } as unknown as ThreadAccess;

/** An access that takes turns of the loop for each entry. */
const SLOW = {
  admits: async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return true;
  },
} as unknown as ThreadAccess;

/** Returns the events of a subscriber that has a connection of its own. */
async function followed({ sources }: Stream, count: number, since?: number): Promise<ThreadEvent[]> {
  const ending = new AbortController();
  const filter: FollowedThread['filter'] = { channels: ['values', 'lifecycle'] };
  const found: ThreadEvent[] = [];
  const thread = { threadId: 't', access: OPEN, filter, since, signal: ending.signal };
  for await (const event of followEvents(sources, thread)) if (found.push(event) === count) ending.abort();
  return found;
}

it('a subscription reads what is kept once: it is counted, and goes on from there', async () => {
  const stream = new Stream();
  stream.add(BEGUN, value(2, 'a'), value(3, 'b'));
  const client = new Client(stream);
  await client.subscribe(['values', 'lifecycle']);
  stream.add(ENDED);
  await client.gets({ kept: 3 }, 'running', 'a', 'b', 'completed');
  expect(stream.reads).toEqual(['kept after 0', 'on after 3']);
  expect(client.events).toEqual(await followed(stream, 4));
});

it('a subscription that goes on in the middle reads each entry once too, and gets the events after its place', async () => {
  const stream = new Stream();
  stream.add(BEGUN, value(2, 'a'), value(3, 'b'), ENDED);
  const [, { seq: since } = { seq: 0 }, ...rest] = await followed(stream, 4);
  expect(await followed(stream, 2, since)).toEqual(rest);
  stream.reads.length = 0;
  const client = new Client(stream);
  await client.subscribe(['values', 'lifecycle'], { since });
  await client.gets({ kept: 2 }, 'b', 'completed');
  expect(stream.reads).toEqual(['kept after 0', 'kept after 2', 'on after 9']);
});

it('a subscription that goes on at an entry of several events gets those that another channel has not brought', async () => {
  const stream = new Stream();
  const message = [{ id: 'm', type: 'AIMessageChunk', content: 'Hi' }, { langgraph_node: 'agent' }];
  stream.add(BEGUN, entry(2, 'messages-tuple', 'messages', message), ENDED);
  const all = new Client(stream);
  await all.subscribe(['messages', 'lifecycle']);
  await waitFor(() => all.written.includes('completed'), { what: 'the end of the run' });
  const { seq: since } = all.events.at(-1)!;
  expect(all.events.filter(({ seq }) => seq === since).length).toBeGreaterThan(1);
  const client = new Client(stream);
  await client.subscribe(['lifecycle'], { since });
  await client.gets({ kept: 1 }, 'completed');
});

it('more than is held is read again as its client takes it, and the others go on where they were', async () => {
  const stream = new Stream();
  const client = new Client(stream);
  await client.subscribe(['lifecycle']);
  const much = 'x'.repeat(2 * 1024 * 1024);
  stream.add(BEGUN, value(2, much));
  await client.gets({ kept: 0 }, 'running');
  await waitFor(() => stream.handed === 2, { what: 'both entries to be read' });
  stream.reads.length = 0;
  await client.subscribe(['values']);
  stream.add(ENDED);
  await client.gets({ kept: 1 }, much, 'completed');
  expect(stream.reads).toEqual(['kept after 0', 'kept after 0']);
});

it('more than is held is streamed to the only subscription', async () => {
  const stream = new Stream();
  const much = 'x'.repeat(2 * 1024 * 1024);
  stream.add(BEGUN, value(2, much));
  const client = new Client(stream);
  await client.subscribe(['values', 'lifecycle']);
  await client.gets({ kept: 2 }, 'running', much);
  expect(stream.reads).toEqual(['kept after 0', 'on after 0']);
});

it('a subscription begins while Redis does not answer, and gets everything once it does', async () => {
  const stream = new Stream();
  stream.add(BEGUN);
  stream.setAnswers(false);
  const client = new Client(stream);
  await client.subscribe(['lifecycle']);
  await client.gets({ kept: 0 });
  stream.setAnswers(true);
  await client.gets('running');
  stream.setAnswers(false);
  const subscribed = client.subscribe(['values', 'lifecycle']);
  stream.add(value(2, 'a'), ENDED);
  await waitFor(() => stream.reads.length >= 4, { what: 'another try to read what is kept' });
  stream.setAnswers(true);
  await subscribed;
  await client.gets({ kept: 1 }, 'running', 'a', 'completed');
});

it('a loss that the stream tells of is an event of it, for the first subscription and for later ones', async () => {
  const stream = new Stream();
  stream.add(BEGUN, { ...RUN, id: `${BASE_MS + 2}-0`, ...gapAfter(BEGUN.id, 'lost') }, value(3, 'a'));
  const client = new Client(stream);
  await client.subscribe(['values']);
  await client.gets({ kept: 2 }, 'lost', 'a');
  stream.add(value(4, 'b'));
  await client.gets('b');
  await client.subscribe(['lifecycle']);
  await client.gets({ kept: 2 }, 'running', 'lost');
});

it('subscriptions that begin together get what is kept once and in its order, and each is told how much is for it', async () => {
  const stream = new Stream();
  stream.add(BEGUN, value(2, 'a'), value(3, 'b'));
  const client = new Client(stream);
  await client.subscriptions.add([client.subscription(['lifecycle']), client.subscription(['values', 'lifecycle'])]);
  await client.gets({ kept: 1 }, { kept: 3 }, 'running', 'a', 'b');
  client.subscriptions.remove('lifecycle');
  stream.add(ENDED);
  await client.gets('completed');
  expect(stream.reads).toEqual(['kept after 0', 'on after 3']);
});

it('a subscription after an id that was never issued gets what comes, also beside another one', async () => {
  const stream = new Stream();
  stream.add(BEGUN);
  const client = new Client(stream);
  const since = (BASE_MS + 1_000_000) * 1000;
  await client.subscribe(['values'], { since });
  await client.subscribe(['lifecycle'], { since });
  stream.add(value(2, 'a'), ENDED);
  await client.gets({ kept: 0 }, { kept: 0 }, 'a', 'completed');
});

it('events that come together reach whom they are for, also where one has not seen how the run began', async () => {
  const stream = new Stream();
  const client = new Client(stream);
  await client.subscribe(['messages']);
  const chunk = { type: 'AIMessageChunk', id: 'm', content: 'Hi', tool_call_chunks: [] };
  stream.add(BEGUN, entry(2, 'messages-tuple', 'messages', [chunk, {}]));
  await client.gets({ kept: 0 }, 'message-start', 'content-block-start', 'content-block-delta');
  stream.trim();
  await client.subscribe(['lifecycle']);
  stream.add(ENDED);
  await client.gets({ kept: 0 }, 'content-block-finish', 'message-finish', 'completed');
});

it('what is hidden from the first subscription is whole for one that sees it, and joins in the middle', async () => {
  const stream = new Stream();
  const client = new Client(stream);
  const hidden = { admits: async () => false } as unknown as ThreadAccess;
  await client.subscribe(['messages'], { access: hidden });
  const chunk = { type: 'AIMessageChunk', id: 'm', content: 'Hi', tool_call_chunks: [] };
  stream.add(BEGUN, entry(2, 'messages-tuple', 'messages', [chunk, {}]));
  await waitFor(() => stream.handed === 2, { what: 'both entries to be read' });
  await client.subscribe(['messages', 'lifecycle']);
  stream.add(ENDED);
  const begun = ['running', 'message-start', 'content-block-start', 'content-block-delta'];
  await client.gets({ kept: 0 }, { kept: 4 }, ...begun, 'content-block-finish', 'message-finish', 'completed');
});

it('an event of one subscription is never written before an earlier one of another that is slower', async () => {
  const stream = new Stream();
  const client = new Client(stream);
  await client.subscribe(['values'], { access: SLOW });
  await client.subscribe(['lifecycle']);
  stream.add(BEGUN, value(2, 'a'), ENDED);
  await client.gets({ kept: 0 }, { kept: 0 }, 'running', 'a', 'completed');
});

it('a new subscription gets what another one has had, and the rest in the order of the thread with it', async () => {
  const stream = new Stream();
  const client = new Client(stream);
  let judge = () => {};
  const judged = new Promise<void>((resolve) => (judge = resolve));
  let isJudging = false;
  const admits = async () => {
    isJudging = true;
    await judged;
    return true;
  };
  await client.subscribe(['values'], { access: { admits } as unknown as ThreadAccess });
  stream.add(BEGUN, value(2, 'a'), ENDED);
  await waitFor(() => isJudging, { what: 'the first entry to be judged' });
  const subscribed = client.subscribe(['lifecycle']);
  judge();
  await subscribed;
  await client.gets({ kept: 0 }, { kept: 1 }, 'running', 'a', 'completed');
});

it('an event that several subscriptions want is written once, and a subscription that has ended gets no more', async () => {
  const stream = new Stream();
  const client = new Client(stream);
  await client.subscribe(['values']);
  await client.subscribe(['values', 'lifecycle']);
  stream.add(BEGUN, value(2, 'a'));
  await client.gets({ kept: 0 }, { kept: 0 }, 'running', 'a');
  expect(client.subscriptions.remove('values,lifecycle')).toBe(true);
  expect(client.subscriptions.remove('values,lifecycle')).toBe(false);
  stream.add(value(3, 'b'), ENDED, value(10, 'c'));
  await client.gets('b');
});

it('a connection that ends leaves nothing that reads or watches, whatever it was about to do', async () => {
  const stream = new Stream();
  const client = new Client(stream);
  await client.subscribe(['values'], { access: SLOW });
  stream.add(BEGUN, value(2, 'a'));
  await waitFor(() => stream.watched === 1, { what: 'the run to be watched' });
  const subscribed = client.subscribe(['lifecycle'], { access: SLOW });
  await new Promise((resolve) => setImmediate(resolve));
  client.subscriptions.close();
  await subscribed;
  await waitFor(() => stream.reading === 0, { what: 'no reader' });
  expect([stream.watched, client.subscriptions.size]).toEqual([0, 0]);
  const written = client.written.length;
  stream.add(ENDED);
  expect(client.written).toHaveLength(written);
});

it('a subscription that fails after it has been ended ends nothing else', async () => {
  const stream = new Stream();
  stream.add(BEGUN, value(2, 'a'));
  const failures: unknown[] = [];
  let fail!: (error: Error) => void;
  const writing = new Promise<void>((_, reject) => {
    fail = reject;
  });
  const subscriptions = new ThreadSubscriptions({
    threadId: 't',
    sources: stream.sources,
    write: () => writing,
    onFailure: (error) => failures.push(error),
  });
  let isAnswered = false;
  const answer = async () => {
    isAnswered = true;
  };
  const subscribed = subscriptions.add([{ id: 'a', access: OPEN, filter: { channels: ['values'] }, answer }]);
  await waitFor(() => isAnswered, { what: 'the answer' });
  subscriptions.remove('a');
  fail(new Error('the client has gone'));
  await subscribed;
  expect(failures).toEqual([]);
});

it('a subscription whose answer cannot be given is refused, and ends nothing else', async () => {
  const client = new Client(new Stream());
  const unanswered = new Error('too much is waiting');
  const answer = () => Promise.reject(unanswered);
  const subscribed = client.subscriptions.add([{ id: 'a', access: OPEN, filter: { channels: ['values'] }, answer }]);
  await expect(subscribed).rejects.toBe(unanswered);
  expect([client.written, client.subscriptions.size]).toEqual([[], 0]);
});

it('a subscription that fails is refused, or ends its connection when it was answered: it has one response', async () => {
  const stream = new Stream();
  stream.add(BEGUN, value(2, 'x'.repeat(2 * 1024 * 1024)));
  const outage = new Error('no database');
  let left = 1;
  const admits = async () => {
    if (left === 0) throw outage;
    left -= 1;
    return true;
  };
  const access = { admits, graphName: 'echo' } as unknown as ThreadAccess;
  const client = new Client(stream);
  await client.subscribe(['lifecycle']);
  await client.gets({ kept: 1 }, 'running');
  await expect(client.subscribe(['values'], { access })).rejects.toBe(outage);
  expect([client.written, client.subscriptions.size]).toEqual([[], 1]);
  // It is answered once both have been counted, and reads them again: they are more than is held.
  left = 2;
  await client.subscribe(['values'], { access });
  await client.gets({ kept: 1 }, outage);
  expect([stream.watched, client.subscriptions.size]).toEqual([1, 1]);
});
