import { setMaxListeners } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createParser } from 'eventsource-parser';

export interface FollowedEvent {
  id: string | undefined;
  event: string;
  data: unknown;
  /** Milliseconds since 1970. */
  at: number;
}

export interface FollowOptions {
  method?: 'GET' | 'POST';
  body?: unknown;
  headers?: Record<string, string>;
  /** The last event of the connection before this one. */
  lastEventId?: string | undefined;
  /** Cuts the connection as a client that vanishes does. */
  signal?: AbortSignal;
  onEvent?(event: FollowedEvent): void;
}

export interface Segment {
  events: FollowedEvent[];
  /** `whole`: the server ended the stream properly. `cut`: it broke off, or could not be opened. */
  end: 'whole' | 'cut';
  status: number | undefined;
  /** The `Location` of the response, where the stream can be resumed. */
  location: string | undefined;
}

/**
 * Opens one connection to a stream of server-sent events and reads it to its end, on a socket of its own. Never
 * rejects. Unlike with `fetch` there is nothing between the socket and its end: a server that is killed is noticed at
 * once, and always.
 */
export function followStream(url: string, options: FollowOptions = {}): Promise<Segment> {
  const { signal, lastEventId, headers, body, method = 'GET' } = options;
  const segment: Segment = { events: [], end: 'cut', status: undefined, location: undefined };
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(segment);
    const asked = request(url, {
      method,
      agent: false,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        ...headers,
      },
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
      take(res, (event) => {
        segment.events.push(event);
        options.onEvent?.(event);
      });
      res.on('close', () => end(res.complete && res.statusCode === 200 ? 'whole' : 'cut'));
    });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Parses the stream; data that is no event cuts it. */
function take(res: IncomingMessage, onEvent: (event: FollowedEvent) => void): void {
  const parser = createParser({
    onEvent: ({ id, event = 'message', data }) =>
      onEvent({ id, event, data: JSON.parse(data || 'null'), at: Date.now() }),
  });
  res.setEncoding('utf8');
  res.on('error', () => undefined);
  res.on('data', (text: string) => {
    if (res.statusCode !== 200) return;
    try {
      parser.feed(text);
    } catch (error) {
      res.destroy(error as Error);
    }
  });
}

/**
 * Returns a signal that aborts with the first of several. `AbortSignal.any` forgets its sources when memory is
 * collected (Node 20).
 */
export function anySignal(...signals: (AbortSignal | undefined)[]): AbortSignal {
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
