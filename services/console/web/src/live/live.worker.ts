import { LiveConnection } from './live-connection.ts';
import type { FromPage } from './messages.ts';

declare const self: { onconnect: ((event: MessageEvent) => void) | null };

/** The connection of all windows of this browser. */
const connection = new LiveConnection();

self.onconnect = ({ ports: [port] }) => {
  const stops = new Map<number, () => void>();
  port!.onmessage = ({ data }: MessageEvent<FromPage>) => {
    if (data.type === 'wake') connection.wake();
    if (data.type === 'leave') {
      stops.get(data.number)?.();
      stops.delete(data.number);
    }
    if (data.type === 'follow') {
      const { number, followed } = data;
      const post = (event: unknown) => port!.postMessage({ number, event });
      stops.set(number, connection.follow(followed, post));
    }
    if (data.type === 'hello') {
      // A window holds its lock for as long as it lives, however it ends.
      void navigator.locks.request(data.lock, () => {
        for (const stop of stops.values()) stop();
        stops.clear();
      });
    }
  };
};
