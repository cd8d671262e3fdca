import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { Lifecycle } from './lifecycle.ts';
import type { Metrics } from './metrics.ts';

/**
 * Counts the open connections of this process to a server, whichever library opened them, while the service runs. Must
 * be called before they are opened.
 *
 * @param url with the server's port, `redis://host:6379`
 */
export function countConnectionsTo(
  lifecycle: Pick<Lifecycle, 'onStop'>,
  url: string,
  defaultPort: number,
): () => number {
  const { port } = new URL(url);
  const wanted = port === '' ? defaultPort : Number(port);
  const open = new Set<Socket>();
  const onSocket = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    socket.once('connect', () => {
      if (socket.remotePort !== wanted) return;
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    });
  };
  subscribe('net.client.socket', onSocket);
  lifecycle.onStop('count of connections', () => unsubscribe('net.client.socket', onSocket));
  return () => open.size;
}

/** The connections of this process to Redis. */
export interface RedisConnectionStats {
  /** Maximum number of connections. */
  max: number;
  open: () => number;
}

/**
 * Reports the connections under the names that operators of agent servers know. Commands share connections: an open one
 * is available.
 */
export function reportRedisMetrics(metrics: Metrics, { max, open }: RedisConnectionStats): void {
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gauge(`lg_api_redis_pool_${name}`, help, [], (each) => each.set(read()));
  gauge('max', 'Connections to Redis at most.', () => max);
  gauge('size', 'Connections to Redis.', open);
  gauge('available', 'Connections to Redis that take commands.', open);
}
