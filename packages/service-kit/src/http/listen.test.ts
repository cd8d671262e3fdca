import { EventEmitter, once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import { waitFor } from '@runyard/test-kit';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServiceLifecycle } from '../lifecycle.ts';
import { createContext, type ServiceContext } from '../service.ts';
import { createApp } from './app.ts';
import { abortResponse } from './error-answer.ts';
import { listen, openEarlyListener } from './listen.ts';

const HERE = { host: '127.0.0.1', port: 0 };
const LONG_S = 3_600;

let context: ServiceContext & { lifecycle: ServiceLifecycle };
let agent: Agent;

function openContext(windowSeconds: number): void {
  context = createContext('test', {
    LOG_LEVEL: 'silent',
    processMetrics: false,
    DRAIN_WINDOW_SECONDS: windowSeconds,
  });
  agent = new Agent({ keepAlive: true });
}
afterEach(async () => {
  agent.destroy();
  await context.lifecycle.stop('the test is over');
});

function get(url: string, method = 'GET'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, method }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer));
    });
    asked.once('error', reject);
    asked.end();
  });
}

/** Listens with an answer without a length at `/stream`. @param onBegun is called when its first event is written */
function listenWithStream(onBegun: (res: ServerResponse) => void) {
  const app = createApp({
    context,
    operations: [],
    before: [
      (req, res, next) => {
        if (req.path !== '/stream') return next();
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write('event: a\n\n', () => onBegun(res));
      },
    ],
  });
  return listen(app, { ...HERE, context });
}

describe('a server that stops', () => {
  it('accepts requests for a while, not ready and each the last of its connection, until nobody is connected', async () => {
    openContext(LONG_S);
    let isClosed = false;
    const { url } = await listen(createApp({ context, operations: [] }), {
      ...HERE,
      context,
      onClosed: () => {
        isClosed = true;
      },
    });
    context.lifecycle.ready();
    const other = new Agent({ keepAlive: true });
    await new Promise((resolve) => request(`${url}/ok`, { agent: other }, (answer) => resolve(answer.resume())).end());
    expect((await get(`${url}/ok?check_db=1`)).headers.connection).toBe('keep-alive');
    const stopped = context.lifecycle.stop('test');

    const onOldConnection = await get(`${url}/ok?check_db=1`);
    expect([onOldConnection.statusCode, onOldConnection.headers.connection]).toEqual([503, 'close']);
    const onNewConnection = await get(`${url}/ok`);
    expect([onNewConnection.statusCode, onNewConnection.headers.connection]).toEqual([200, 'close']);
    expect(isClosed).toBe(false);

    other.destroy();
    await stopped;
    expect(isClosed).toBe(true);
    await expect(get(`${url}/ok`)).rejects.toThrow('ECONNREFUSED');
  });

  it('never lets an answer without a length look complete when it is cut', async () => {
    openContext(LONG_S);
    const { url } = await listenWithStream((res) => abortResponse(res));
    await get(`${url}/ok`);
    const stopped = context.lifecycle.stop('test');
    const response = await fetch(`${url}/stream`);
    await expect(response.text()).rejects.toThrow();
    agent.destroy();
    await stopped;
  });

  it('takes a request that follows an answer without a length, whose end nobody could announce', async () => {
    openContext(LONG_S);
    const streams = new EventEmitter();
    const begun = once(streams, 'begun') as Promise<[ServerResponse]>;
    const { url } = await listenWithStream((res) => streams.emit('begun', res));
    agent.destroy();
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const streamed = get(`${url}/stream`);
    // It waits for the only connection, and is sent in the moment in which that is free.
    const next = get(`${url}/ok`);
    const [answer] = await begun;
    const stopped = context.lifecycle.stop('test');
    answer.end('event: b\n\n');
    expect((await streamed).statusCode).toBe(200);
    expect((await next).headers.connection).toBe('close');
    await stopped;
  });

  it('closes idle connections when the window has ended', async () => {
    openContext(0.2);
    const { url } = await listen(createApp({ context, operations: [] }), { ...HERE, context });
    await get(`${url}/ok`);
    await context.lifecycle.stop('test');
    expect(context.lifecycle.failures).toBe(0);
  });
});

describe('a service that cannot work yet', () => {
  it('is alive, not ready, and processes no other request', async () => {
    openContext(0);
    const { url, serve } = await openEarlyListener({ ...HERE, context });
    for (const path of ['/ok', '/mounted/ok', '/ok?check_db=0']) expect((await get(url + path)).statusCode).toBe(200);
    for (const [method, path] of [
      ['GET', '/ok?check_db=1'],
      ['GET', '/metrics'],
      ['POST', '/runs'],
    ] as const) {
      const { statusCode, headers } = await get(url + path, method);
      expect([statusCode, headers['retry-after'], headers['x-runyard-untouched']]).toEqual([503, '1', 'starting']);
    }
    serve(createApp({ context, operations: [] }));
    expect((await get(`${url}/ok?check_db=1`)).headers).not.toHaveProperty('x-runyard-untouched');
    context.lifecycle.ready();
    expect((await get(`${url}/ok?check_db=1`)).statusCode).toBe(200);
  });

  it('stops without ever having served', async () => {
    openContext(LONG_S);
    const { url } = await openEarlyListener({ ...HERE, context });
    await context.lifecycle.stop('test');
    expect(context.lifecycle.failures).toBe(0);
    await waitFor(() =>
      get(url).then(
        () => false,
        () => true,
      ),
    );
  });
});

/** Opens connections from another thread, and returns whether all were established while this one was busy. */
function connectsWhileBusy(url: string, count: number): boolean {
  const done = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { connect } = require('node:net');
     const { done, port, count } = require('node:worker_threads').workerData;
     let missing = count;
     for (let each = 0; each < count; each += 1)
       connect(port, '127.0.0.1', () => {
         missing -= 1;
         if (missing === 0) Atomics.store(done, 0, 1), Atomics.notify(done, 0);
       });`,
    { eval: true, workerData: { done, port: Number(new URL(url).port), count } },
  );
  const result = Atomics.wait(done, 0, 0, 20_000);
  void worker.terminate();
  return result !== 'timed-out';
}

it('the configured number of connections waits for a busy process instead of being retried later', async () => {
  openContext(0);
  const { url } = await listen(createApp({ context, operations: [] }), { ...HERE, context, backlog: 1_000 });
  expect(connectsWhileBusy(url, 800)).toBe(true);
});
