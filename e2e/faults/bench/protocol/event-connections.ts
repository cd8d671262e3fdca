import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { followStream } from '../event-follower.ts';
import type { ProtocolEvent } from './event-union.ts';

/** One connection to the events of a thread. */
interface EventConnection {
  /** The deployment's URL for clients. */
  url: string;
  headers: Record<string, string>;
  threadId: string;
  /** The number of the last event that the client has; left out for everything that is kept. */
  since?: number | undefined;
  /** Cuts the connection. */
  signal: AbortSignal;
  onEvent(event: ProtocolEvent): void;
}

export type Connect = (connection: EventConnection) => Promise<{ wasOpen: boolean }>;

const CHANNELS = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom'];
/** Milliseconds without a word, of which the server sends one every five seconds, until a websocket counts as lost. */
const SILENCE_MS = 20_000;

/** Reads over server-sent events, until the connection ends. Never rejects. */
export const connectBySse: Connect = async ({ url, headers, threadId, since, signal, onEvent }) => {
  const { status } = await followStream(`${url}/threads/${threadId}/stream/events`, {
    method: 'POST',
    headers,
    body: { channels: CHANNELS, ...(since !== undefined && { since }) },
    signal,
    onEvent: ({ data }) => onEvent(data as ProtocolEvent),
  });
  return { wasOpen: status === 200 };
};

/** Reads over a websocket, until it ends. Never rejects. */
export const connectByWebSocket: Connect = ({ url, headers, threadId, since, signal, onEvent }) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve({ wasOpen: false });
    let wasOpen = false;
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/threads/${threadId}/stream/events`, { headers });
    const cut = () => socket.terminate();
    const silence = setTimeout(cut, SILENCE_MS);
    signal.addEventListener('abort', cut, { once: true });
    socket.on('error', () => undefined);
    socket.on('open', () => {
      wasOpen = true;
      const reconnect = { run_id: randomUUID(), last_event_id: String(since), subscriptions: [] };
      if (since !== undefined) send(socket, 1, 'subscription.reconnect', reconnect);
      send(socket, 2, 'subscription.subscribe', { channels: CHANNELS });
    });
    socket.on('ping', () => silence.refresh());
    socket.on('message', (text) => {
      silence.refresh();
      const message = JSON.parse(String(text)) as { type: string } & ProtocolEvent;
      if (message.type === 'event' && !signal.aborted) onEvent(message);
    });
    socket.on('close', () => {
      clearTimeout(silence);
      signal.removeEventListener('abort', cut);
      resolve({ wasOpen });
    });
  });

function send(socket: WebSocket, id: number, method: string, params: object): void {
  socket.send(JSON.stringify({ id, method, params }));
}
