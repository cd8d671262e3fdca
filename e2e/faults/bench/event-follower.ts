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
  /** Where the connection before this one stopped. */
  lastEventId?: string | undefined;
  /** Cuts the connection as a client that vanishes does. */
  signal?: AbortSignal;
  onEvent?(event: FollowedEvent): void;
}

export interface Segment {
  events: FollowedEvent[];
  /** `whole`: the server ended the stream as streams end. `cut`: it broke off, or could not be had. */
  end: 'whole' | 'cut';
  status: number | undefined;
  /** Of the response, where the stream can be gone on with. */
  location: string | undefined;
}

/** One connection to a stream of server-sent events, to its end. Never rejects. */
export async function follow(url: string, options: FollowOptions = {}): Promise<Segment> {
  const segment: Segment = { events: [], end: 'cut', status: undefined, location: undefined };
  const parser = createParser({
    onEvent: ({ id, event = 'message', data }) => {
      const followed = { id, event, data: JSON.parse(data || 'null'), at: Date.now() };
      segment.events.push(followed);
      options.onEvent?.(followed);
    },
  });
  try {
    const response = await fetch(url, {
      method: options.method ?? 'GET',
      headers: {
        ...(options.body !== undefined && { 'content-type': 'application/json' }),
        ...(options.lastEventId !== undefined && { 'last-event-id': options.lastEventId }),
        ...options.headers,
      },
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal ?? null,
    });
    segment.status = response.status;
    segment.location = response.headers.get('content-location') ?? undefined;
    if (!response.ok || !response.body) return segment;
    const decoder = new TextDecoder();
    for await (const chunk of response.body) parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
    segment.end = 'whole';
  } catch {
    // Cut, by either side.
  }
  return segment;
}
