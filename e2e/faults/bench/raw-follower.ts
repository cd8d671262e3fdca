import { setMaxListeners } from 'node:events';
import { request } from 'node:http';
import { createParser } from 'eventsource-parser';
import type { FollowOptions, Segment } from './event-follower.ts';

/**
 * One connection to a stream of server-sent events, to its end, on a socket of its own. Never rejects. Unlike with `fetch` there is
 * nothing between the socket and its end: a server that is killed is noticed at once, and always.
 */
export function followRaw(url: string, options: Omit<FollowOptions, 'method' | 'body'> = {}): Promise<Segment> {
  const { signal, lastEventId, headers } = options;
  const segment: Segment = { events: [], end: 'cut', status: undefined, location: undefined };
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(segment);
    const asked = request(url, {
      agent: false,
      headers: { ...(lastEventId !== undefined && { 'last-event-id': lastEventId }), ...headers },
    });
    const leave = () => asked.destroy();
    signal?.addEventListener('abort', leave);
    const end = (how: Segment['end']) => {
      segment.end = how;
      signal?.removeEventListener('abort', leave);
      resolve(segment);
    };
    asked.on('error', () => end('cut'));
    asked.on('response', (res) => {
      segment.status = res.statusCode;
      segment.location = res.headers['content-location'];
      const parser = createParser({
        onEvent: ({ id, event = 'message', data }) => {
          const followed = { id, event, data: JSON.parse(data || 'null'), at: Date.now() };
          segment.events.push(followed);
          options.onEvent?.(followed);
        },
      });
      res.setEncoding('utf8');
      res.on('data', (text: string) => res.statusCode === 200 && parser.feed(text));
      res.on('error', () => undefined);
      res.on('close', () => end(res.complete && res.statusCode === 200 ? 'whole' : 'cut'));
    });
    asked.end();
  });
}

/** A signal that aborts with the first of several. `AbortSignal.any` forgets its sources when memory is collected (Node 20). */
export function firstOf(...signals: (AbortSignal | undefined)[]): AbortSignal {
  const first = new AbortController();
  for (const signal of signals) {
    if (!signal) continue;
    if (signal.aborted) first.abort();
    // One signal may end any number of connections.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', () => first.abort(), { once: true });
  }
  return first.signal;
}
