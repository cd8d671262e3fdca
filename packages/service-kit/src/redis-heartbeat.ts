/** The part of an ioredis connection that the heartbeat needs. */
export interface RedisConnection {
  readonly status: string;
  readonly stream?: { readonly writableEnded?: boolean; resetAndDestroy?(): unknown; destroy(): unknown };
  ping(): Promise<unknown>;
  once(event: 'end', listener: () => void): unknown;
}

export interface HeartbeatOptions {
  /** Milliseconds between pings. Default 5 s. */
  everyMs?: number;
  /** Milliseconds for an answer. Default 3 s. */
  timeoutMs?: number;
}

/**
 * Detects an unresponsive peer and reconnects. A network that drops packets gives no error, and a connection that only
 * listens would wait for ever. Ends with the connection.
 */
export function startRedisHeartbeat(
  redis: RedisConnection,
  { everyMs = 5_000, timeoutMs = 3_000 }: HeartbeatOptions = {},
): void {
  let isAsking = false;
  let greeting: unknown;
  const beat = async () => {
    const { status, stream } = redis;
    // The connection was opened a beat ago, and has got no greeting yet.
    if (status === 'connect' && stream === greeting) resetConnection(redis);
    greeting = status === 'connect' ? stream : undefined;
    if (isAsking || status !== 'ready') return;
    isAsking = true;
    // A process that was busy for this long first reads what has arrived in the meantime.
    const look = () => isAsking && redis.stream === stream && resetConnection(redis);
    const late = setTimeout(() => setImmediate(look), timeoutMs);
    await redis.ping().catch(() => undefined);
    clearTimeout(late);
    isAsking = false;
  };
  const timer = setInterval(() => void beat(), everyMs);
  timer.unref();
  redis.once('end', () => clearInterval(timer));
}

/**
 * Drops the connection with everything it has not delivered; the client reconnects. An ordinary close would still
 * deliver: a command that was given up could arrive after later ones.
 */
export function resetConnection({ status, stream }: RedisConnection): void {
  if (!stream || (status !== 'ready' && status !== 'connect')) return;
  // A socket that has sent its end cannot be reset: it would stay open.
  if (stream.resetAndDestroy && !stream.writableEnded) stream.resetAndDestroy();
  else stream.destroy();
}
