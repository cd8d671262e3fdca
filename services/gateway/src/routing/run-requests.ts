import { isListed, pathBelow } from './keyless-paths.ts';

/** Paths of a deployment whose POST runs something and is answered when that has ended (`{name}` is one segment). */
const RUN_PATHS = [
  '/runs/stream',
  '/runs/wait',
  '/threads/{thread_id}/runs/stream',
  '/threads/{thread_id}/runs/wait',
  '/a2a/{assistant_id}',
  '/a2a/{assistant_id}/',
  '/a2a/{assistant_id}/message:send',
  '/a2a/{assistant_id}/message:stream',
  '/agui/{assistant_id}',
  // With a tenant, or the `v1` of A2A 0.3.
  '/a2a/{assistant_id}/{tenant}/message:send',
  '/a2a/{assistant_id}/{tenant}/message:stream',
  '/mcp',
  '/mcp/',
].map((template) => template.split('/'));

/**
 * Returns whether a request keeps a run going as long as it is open. Runs that a client starts and leaves, and those it
 * joins later, are none.
 */
export function isRunRequest(
  method: string | undefined,
  path: string,
  mountPrefix: string | null | undefined,
): boolean {
  return method === 'POST' && isListed(RUN_PATHS, pathBelow(mountPrefix, path) ?? path);
}
