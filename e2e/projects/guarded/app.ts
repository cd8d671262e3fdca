/** Routes that say whom they see. */
import type { Server } from 'node:http';
import { Hono } from 'hono';
import { WebSocketServer } from 'ws';

/** Bodies of the requests at `/noauth`, with whom they came from. */
const received: unknown[] = [];

export const app = new Hono()
  .get('/custom/who', (c) => c.json({ auth: c.get('auth' as never) ?? null, headers: c.req.header() }))
  // The project's code asks its own server, for the user where it passes on whose credentials it got.
  .get('/custom/threads', async (c) => {
    const own = (globalThis as unknown as Record<symbol, typeof fetch>)[
      Symbol.for('langgraph_api:fetch')
    ] as typeof fetch;
    const authorization = c.req.query('for') === 'user' && c.req.header('authorization');
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
    const found = await own('/threads/search', { method: 'POST', headers, body: JSON.stringify({ limit: 1000 }) });
    return c.json(await found.json(), found.status as 200);
  })
  .get('/custom/threads-by-address', async (c) => {
    const headers = { 'content-type': 'application/json' };
    const found = await fetch(`${process.env.LANGGRAPH_API_URL}/threads/search`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    return c.json(await found.json(), found.status as 200);
  })
  .post('/noauth', async (c) => {
    received.push({ auth: c.get('auth' as never) ?? null, body: await c.req.json() });
    return c.body(null, 204);
  })
  .get('/noauth', (c) => c.json(received))
  .get('/.well-known/oauth-protected-resource/mcp', (c) =>
    c.json({ resource: 'https://guarded.example/mcp', authorization_servers: ['https://people.example'] }),
  );

export function injectWebSocket(server: Server): void {
  new WebSocketServer({ server, path: '/custom/chat' }).on('connection', (socket, request) => {
    const { auth = null } = request as { auth?: object };
    socket.send(JSON.stringify({ auth, headers: request.headers }));
  });
}
