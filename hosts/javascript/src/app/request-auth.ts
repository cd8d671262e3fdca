import type { IncomingMessage } from 'node:http';
import type { AuthUser } from '@runyard/host-protocol/graph-process';

/**
 * The caller of a request, as routes of a project find it: `c.get('auth')` with Hono, `req.auth` on Node.js' own
 * requests (Express, `request.raw` of Fastify, websockets), and the second argument of a fetch handler. The field names
 * are those of the official server.
 */
export interface RequestAuth {
  user: AuthUser;
  scopes: string[];
}

export function setRequestAuth(req: IncomingMessage, user: AuthUser): void {
  Object.assign(req, { auth: { user, scopes: user.permissions } satisfies RequestAuth });
}

/** Returns undefined for a request without a user. */
export function requestAuthOf(req: IncomingMessage): RequestAuth | undefined {
  return (req as IncomingMessage & { auth?: RequestAuth }).auth;
}
