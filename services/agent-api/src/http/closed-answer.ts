import type { ServerResponse } from 'node:http';

/** Returns a signal that aborts when an answer is complete, or its client has left. */
export function closedAnswer(res: ServerResponse): AbortSignal {
  const closed = new AbortController();
  if (res.closed) closed.abort();
  else res.once('close', () => closed.abort());
  return closed.signal;
}
