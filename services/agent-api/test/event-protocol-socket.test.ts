import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@langchain/langgraph-sdk';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

interface Frame {
  type: string;
  id?: number | null;
  error?: string;
  result?: Record<string, unknown>;
  event_id?: string;
  method?: string;
  params?: { data: unknown };
}

/** A websocket, with what has come over it. */
class Socket {
  readonly frames: Frame[] = [];
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.frames.push(JSON.parse(String(data))));
  }

  static async open(threadId: string): Promise<Socket> {
    const socket = new WebSocket(`${deployment.url.replace('http', 'ws')}/threads/${threadId}/stream/events`);
    const opened = new Socket(socket);
    await once(socket, 'open');
    return opened;
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  async ask(frame: { id: number; method: string; params?: object }): Promise<Frame> {
    this.send(frame);
    return waitFor(() => this.frames.find(({ id }) => id === frame.id), { what: `the response to ${frame.method}` });
  }

  /** Waits for so many events; returns their methods and data. */
  async events(count: number): Promise<unknown[]> {
    const found = () => this.frames.filter(({ type }) => type === 'event');
    await waitFor(() => found().length >= count, { what: `${count} events` });
    return found().map(({ method, params }) => [method, params!.data]);
  }

  close(): Promise<unknown> {
    this.#socket.close();
    return once(this.#socket, 'close');
  }
}

/**
 * A websocket over a slow line: its messages reach the client one by one, and none before `begins`.
 */
function slowSocket(url: string, begins: Promise<unknown>): WebSocket {
  const socket = new WebSocket(url);
  const listen = socket.addEventListener.bind(socket);
  let last = begins;
  socket.addEventListener = ((type: 'message', listener: (event: unknown) => void, options: object) => {
    const late = (event: unknown) => {
      last = last.then(() => pause(2)).then(() => listener(event));
    };
    listen(type, type === 'message' ? late : listener, options);
  }) as WebSocket['addEventListener'];
  return socket;
}

const running = ['lifecycle', { event: 'running', graph_name: 'echo' }];
const completed = ['lifecycle', { event: 'completed', graph_name: 'echo' }];
const START = { method: 'run.start', params: { assistant_id: 'echo', input: {} } };

describe('the event protocol over a websocket', () => {
  it('answers a subscription before its events, and has commands and events of many subscriptions', async () => {
    const threadId = randomUUID();
    const socket = await Socket.open(threadId);
    const first = await socket.ask({ id: 1, method: 'subscription.subscribe', params: { channels: ['lifecycle'] } });
    expect(first).toMatchObject({ type: 'success', result: { replayed_events: 0 }, meta: { thread_id: threadId } });
    const started = await socket.ask({ id: 2, ...START });
    const run = await deployment.worker.take();
    expect(started.result).toEqual({ run_id: run.claimed.runId });
    await run.emit('v2.values', { timestamp: 1, data: { n: 1 } }, 'values');
    await run.succeed({});
    expect(await socket.events(2)).toEqual([running, completed]);
    expect(socket.frames.slice(0, 2).map(({ id }) => id)).toContain(1);

    const { subscription_id } = first.result as { subscription_id: string };
    expect(await socket.ask({ id: 3, method: 'subscription.unsubscribe', params: { subscription_id } })).toMatchObject({
      type: 'success',
      result: {},
    });
    const later = await socket.ask({ id: 4, method: 'subscription.subscribe', params: { channels: ['values'] } });
    expect(later.result).toMatchObject({ replayed_events: 1 });
    expect((await socket.events(3))[2]).toEqual(['values', { n: 1 }]);
    const at = socket.frames.findIndex(({ id }) => id === 4);
    expect(socket.frames.slice(at + 1)).toMatchObject([{ type: 'event', method: 'values' }]);
    expect(await socket.ask({ id: 5, method: 'agent.getTree', params: {} })).toMatchObject({
      result: { tree: { status: 'completed' } },
    });

    const { event_id } = socket.frames.find(({ method }) => method === 'values')!;
    await socket.close();
    const again = await Socket.open(threadId);
    const params = { run_id: run.claimed.runId, last_event_id: event_id, subscriptions: [subscription_id] };
    expect(await again.ask({ id: 1, method: 'subscription.reconnect', params })).toMatchObject({
      result: { restored: false },
    });
    const channels = ['values', 'lifecycle'];
    const rest = await again.ask({ id: 2, method: 'subscription.subscribe', params: { channels } });
    expect(rest.result).toMatchObject({ replayed_events: 1 });
    expect(await again.events(1)).toEqual([completed]);
    await again.close();
  });

  it('the official client has the output of a run that ended before it subscribed, over a slow line too', async () => {
    let begin = () => {};
    const begins = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const thread = new Client({ apiUrl: deployment.url, apiKey: null }).threads.stream({
      assistantId: 'echo',
      transport: 'websocket',
      webSocketFactory: (url) => slowSocket(url, begins) as never,
    });
    const started = thread.run.start({ input: {} });
    const run = await deployment.worker.take();
    for (const n of [1, 2]) await run.emit('v2.values', { timestamp: n, data: { n } }, 'values');
    await run.succeed({});
    begin();
    await started;
    expect(await thread.output).toEqual({ n: 2 });
    await thread.close();
  });

  it('answers what is wrong with errors, and goes on', async () => {
    const socket = await Socket.open(randomUUID());
    for (const frame of ['zap', '[]', '{"id":"1","method":"state.get"}', '{"id":1}']) socket.send(frame);
    await waitFor(() => socket.frames.length >= 4, { what: 'four errors' });
    for (const frame of socket.frames)
      expect(frame).toMatchObject({ type: 'error', id: null, error: 'invalid_argument' });
    const wrong: [method: string, params: object, error: string][] = [
      ['zap', {}, 'unknown_command'],
      ['subscription.subscribe', { channels: ['zap'] }, 'invalid_argument'],
      ['subscription.subscribe', { channels: ['values'], namespace: ['talk'] }, 'invalid_argument'],
      ['subscription.unsubscribe', { subscription_id: 's' }, 'no_such_subscription'],
      ['subscription.reconnect', { run_id: 'r' }, 'no_such_run'],
      ['state.get', {}, 'no_such_run'],
    ];
    for (const [index, [method, params, error]] of wrong.entries()) {
      expect(await socket.ask({ id: 10 + index, method, params })).toMatchObject({ type: 'error', error });
    }
    await socket.close();
  });

  it('counts as an open stream as long as it is open', async () => {
    const openStreams = async () =>
      Number(/^lg_api_open_streams(?:\{.*\})? (\d+)$/m.exec((await ask(`${deployment.url}/metrics`)).text)?.[1]);
    const before = await openStreams();
    const socket = await Socket.open(randomUUID());
    await waitFor(async () => (await openStreams()) === before + 1, { what: 'one more open stream' });
    await socket.close();
    await waitFor(async () => (await openStreams()) === before, { what: 'one open stream less' });
  });

  it('is refused at other paths, and ended with a reason when the service stops', async () => {
    const stranger = new WebSocket(`${deployment.url.replace('http', 'ws')}/threads/zap/stream/events`);
    const [refused] = (await once(stranger, 'error')) as [Error];
    expect(refused.message).toContain('404');
    const page = { origin: 'https://evil.example', cookie: 'session=of-bob' };
    const path = `/threads/${randomUUID()}/stream/events`;
    const foreign = new WebSocket(deployment.url.replace('http', 'ws') + path, { headers: page });
    expect(((await once(foreign, 'error')) as [Error])[0].message).toContain('403');
    const another = await deployment.startAnother();
    const socket = new WebSocket(`${another.url.replace('http', 'ws')}/threads/${randomUUID()}/stream/events`);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await another.stop();
    expect((await closed)[0]).toBe(1012);
  });
});
