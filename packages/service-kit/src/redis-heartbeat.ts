/** Of a connection of ioredis, what is needed here. */
export interface RedisConnection {
  readonly status: string;
  readonly stream?: { readonly writableEnded?: boolean; resetAndDestroy?(): unknown; destroy(): unknown };
  ping(): Promise<unknown>;
  once(event: 'end', listener: () => void): unknown;
}

export interface HeartbeatOptions {
  /** Default 5 s. */
  everyMs?: number;
  /** What an answer may take. Default 3 s. */
  timeoutMs?: number;
}

/**
 * Notices a peer that is silent: a network that swallows packets gives no error, and a connection that only listens would wait
 * for good. Such a connection is made anew. Ends with the connection.
 */
export function keepAlive(redis: RedisConnection, { everyMs = 5_000, timeoutMs = 3_000 }: HeartbeatOptions = {}): void {
  let isAsking = false;
  let greeting: unknown;
  const beat = async () => {
    const { status, stream } = redis;
    // Connected a beat ago, and still not greeted.
    if (status === 'connect' && stream === greeting) resetConnection(redis);
    greeting = status === 'connect' ? stream : undefined;
    if (isAsking || status !== 'ready') return;
    isAsking = true;
    // A process that was busy with itself for so long first reads what has arrived meanwhile.
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
 * Drops the connection with all that it has not delivered; the client connects anew. An ordinary close would go on delivering:
 * a command that was given up could still arrive, after later ones.
 */
export function resetConnection({ status, stream }: RedisConnection): void {
  if (!stream || (status !== 'ready' && status !== 'connect')) return;
  // A socket that has said goodbye cannot be reset: it would stay open.
  if (stream.resetAndDestroy && !stream.writableEnded) stream.resetAndDestroy();
  else stream.destroy();
}
