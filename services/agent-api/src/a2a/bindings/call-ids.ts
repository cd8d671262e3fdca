import type { IncomingMessage } from 'node:http';

/** The ids of calls of JSON-RPC, for errors that are answered elsewhere. */
const ids = new WeakMap<IncomingMessage, string | number | null>();

export function rememberCallId(req: IncomingMessage, id: string | number | null): void {
  ids.set(req, id);
}

/** Returns the id of the call that a request makes; null when it is not known. */
export function callIdOf(req: IncomingMessage): string | number | null {
  return ids.get(req) ?? null;
}
