/** An app with routes of a project's own, websockets, and middleware over the server's. */
import type { Server } from 'node:http';
import { Client } from '@langchain/langgraph-sdk';
import { getLogger } from '@langchain/langgraph-sdk/logging';
import { Hono } from 'hono';
import { streamText } from 'hono/streaming';
import { WebSocketServer } from 'ws';

const log = getLogger();

/** Webhooks that were received. */
const received: unknown[] = [];

export const app = new Hono()
  .use(async (c, next) => {
    if (c.req.query('interrupt') !== undefined) return c.json({ interrupted: true });
    if (c.req.method === 'POST' && c.req.path === '/threads') {
      const body = { ...(await c.req.json()), metadata: { by: 'middleware' } };
      // The body that was read, and changed here, goes on to the server.
      c.req.bodyCache.text = Promise.resolve(JSON.stringify(body)) as unknown as string;
    }
    const tone = c.req.header('x-tone');
    if (tone !== undefined && c.req.path.endsWith('/runs/wait')) {
      const body = await c.req.json();
      body.config = { configurable: { 'x-user': tone } };
      log.info('a run is asked for', { tone });
    }
    await next();
    c.header('x-middleware', 'seen');
    return undefined;
  })
  .get('/custom/hello', (c) => c.json({ hello: c.req.query('name') ?? 'nobody' }))
  .get('/custom/end-of-the-process', (c) => {
    process.kill(process.pid, 'SIGKILL');
    return c.text('never sent');
  })
  .post('/custom/hooks', async (c) => {
    received.push(await c.req.json());
    return c.body(null, 204);
  })
  .get('/custom/hooks', (c) => c.json(received))
  .get('/custom/headers', (c) => c.json(c.req.header()))
  .get('/custom/error', () => {
    throw new Error('the reason is for the log alone');
  })
  .get('/custom/stream', (c) =>
    streamText(c, async (stream) => {
      for (let line = 0; line < 3; line++) await stream.writeln(`line ${line}`);
    }),
  )
  // Without a URL the client reaches the server that this code runs in.
  .get('/custom/assistants', async (c) => c.json(await new Client({ apiKey: null }).assistants.search()))
  .get('/custom/waits', async (c) => {
    const input = { messages: [{ role: 'user', content: 'from a route' }] };
    return c.json(await new Client({ apiKey: null }).runs.wait(null, 'echo', { input }));
  })
  .get('/custom/around', () => {
    const own = (globalThis as unknown as Record<symbol, typeof fetch>)[Symbol.for('langgraph_api:fetch')];
    return own?.('/custom/around') ?? new Response(null, { status: 500 });
  })
  .get('/threads/shadowed', (c) => c.json({ shadowed: true }));

export function injectWebSocket(server: Server): void {
  new WebSocketServer({ server, path: '/custom/chat' }).on('connection', (socket, request) => {
    socket.send(JSON.stringify(request.headers));
    socket.on('message', (message) => socket.send(`echo: ${message}`));
  });
}
