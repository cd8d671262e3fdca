/** Routes that say whom they see. */
import type { Server } from 'node:http';
import { Hono } from 'hono';
import { WebSocketServer } from 'ws';

/** Bodies of the requests at `/noauth`, with whom they came from. */
const received: unknown[] = [];

export const app = new Hono()
  .get('/custom/who', (c) => c.json({ auth: c.get('auth' as never) ?? null, headers: c.req.header() }))
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
