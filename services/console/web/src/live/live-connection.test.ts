import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FollowedThread, LiveConnection, type LiveEvent } from './live-connection.ts';

const WORKSPACE = '0199f0a4-0000-7000-8000-000000000001';
const THREAD: FollowedThread = {
  kind: 'thread',
  workspaceId: WORKSPACE,
  deploymentId: '0199f0a4-0000-7000-8000-000000000002',
  threadId: '0199f0a4-0000-7000-8000-000000000003',
  channels: ['tasks'],
};
const KEY = 'thread:1';

/** A stream that the console's backend was asked for. */
interface Opened {
  asked: { runs: string[]; threads: { id: string; since?: number }[] };
  send(id: string, event: string, data?: unknown): Promise<void>;
  end(): Promise<void>;
  isAborted(): boolean;
}

let opened: Opened[];
beforeEach(() => {
  vi.useFakeTimers();
  opened = [];
  vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => {
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
      },
    });
    init.signal!.addEventListener('abort', () => controller.error(new Error('aborted')));
    const settle = () => vi.advanceTimersByTimeAsync(0);
    opened.push({
      asked: JSON.parse(init.body as string),
      send: (id, event, data = {}) => {
        const text = JSON.stringify({ id, event, data: JSON.stringify(data) });
        controller.enqueue(new TextEncoder().encode(`data: ${text}\n\n`));
        return settle().then(() => {});
      },
      end: () => {
        controller.close();
        return settle().then(() => {});
      },
      isAborted: () => init.signal!.aborted,
    });
    return new Response(body);
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Follows something. @returns the events that have come, and what ends it */
function follow(connection: LiveConnection, followed: Parameters<LiveConnection['follow']>[0]) {
  const events: LiveEvent[] = [];
  return { events, leave: connection.follow(followed, (event) => events.push(event)) };
}

describe('the one stream of a browser', () => {
  it('has all that is followed, and goes on where it was when that changes', async () => {
    const connection = new LiveConnection();
    const thread = follow(connection, THREAD);
    follow(connection, { kind: 'runs', workspaceId: WORKSPACE });
    await vi.advanceTimersByTimeAsync(20);
    expect(opened.map(({ asked }) => asked)).toMatchObject([{ runs: [WORKSPACE], threads: [{ id: KEY }] }]);
    await opened[0]!.send(KEY, 'tasks', { seq: 7, event_id: 'a' });
    const other = follow(connection, { ...THREAD, threadId: '0199f0a4-0000-7000-8000-000000000004' });
    await vi.advanceTimersByTimeAsync(20);
    expect(opened[0]!.isAborted()).toBe(true);
    expect(opened[1]!.asked.threads.map(({ id, since }) => [id, since])).toEqual([
      [KEY, 7],
      ['thread:2', undefined],
    ]);
    expect(thread.events.map(({ event }) => event)).toEqual(['tasks']);
    other.leave();
    await vi.advanceTimersByTimeAsync(20);
    expect(opened[2]!.asked.threads).toHaveLength(1);
  });

  it('gives each event once, whatever breaks', async () => {
    const connection = new LiveConnection();
    const { events } = follow(connection, THREAD);
    await vi.advanceTimersByTimeAsync(20);
    await opened[0]!.send(KEY, 'tasks', { seq: 1, event_id: 'a' });
    await opened[0]!.send(KEY, 'tasks', { seq: 2, event_id: 'b' });
    await opened[0]!.send(KEY, 'tasks', { seq: 2, event_id: 'c' });
    await opened[0]!.end();
    await vi.advanceTimersByTimeAsync(1_000);
    // Events that share a number come again.
    await opened[1]!.send(KEY, 'tasks', { seq: 2, event_id: 'c' });
    await opened[1]!.send(KEY, 'tasks', { seq: 3, event_id: 'd' });
    expect(events.map(({ data }) => (data as { event_id: string }).event_id)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('is opened anew when it is silent for longer than its heartbeats', async () => {
    const connection = new LiveConnection();
    follow(connection, THREAD);
    await vi.advanceTimersByTimeAsync(20);
    await vi.advanceTimersByTimeAsync(13_000);
    expect(opened.length).toBe(2);
    expect(opened[0]!.isAborted()).toBe(true);
  });

  it('leaves out what has ended, longer each time, and goes on with the rest', async () => {
    const connection = new LiveConnection();
    const gone = follow(connection, THREAD);
    follow(connection, { kind: 'runs', workspaceId: WORKSPACE });
    await vi.advanceTimersByTimeAsync(20);
    await opened[0]!.send(KEY, 'closed', { status: 404 });
    expect(gone.events.at(-1)).toEqual({ event: 'closed', data: { status: 404 } });
    const heartbeats = setInterval(() => void opened.at(-1)!.send('-', 'heartbeat'), 5_000);
    await vi.advanceTimersByTimeAsync(2_900);
    expect(opened).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(opened[1]!.asked).toMatchObject({ runs: [WORKSPACE], threads: [{ id: KEY }] });
    await opened[1]!.send(KEY, 'closed', { status: 404 });
    await vi.advanceTimersByTimeAsync(5_900);
    expect(opened).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(200);
    expect(opened).toHaveLength(3);
    clearInterval(heartbeats);
  });

  it('is stopped by no event that a project makes up, and by no address', async () => {
    const connection = new LiveConnection();
    const { events } = follow(connection, THREAD);
    follow(connection, { ...THREAD, threadId: 'no id' });
    await vi.advanceTimersByTimeAsync(20);
    expect(opened[0]!.asked.threads.map(({ id }) => id)).toEqual([KEY]);
    for (const data of [null, 7, 'text', undefined]) await opened[0]!.send(KEY, 'tasks', data);
    await opened[0]!.send(KEY, 'tasks', { seq: {}, event_id: 3 });
    await opened[0]!.send(KEY, 'tasks', { seq: 9, event_id: 'z' });
    expect(events.map(({ data }) => data)).toContainEqual({ seq: 9, event_id: 'z' });
    expect(opened).toHaveLength(1);
  });

  it('is not there while nobody follows anything', async () => {
    const connection = new LiveConnection();
    const { leave } = follow(connection, THREAD);
    await vi.advanceTimersByTimeAsync(20);
    leave();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened).toHaveLength(1);
    expect(opened[0]!.isAborted()).toBe(true);
  });
});
