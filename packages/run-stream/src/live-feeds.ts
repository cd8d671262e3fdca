import type { Redis } from 'ioredis';
import type { EntryCodec, LiveBatch } from './entry-codec.ts';

/** Receives the messages of a feed. */
export interface FeedListener {
  /** Is called when everything that is published from now on comes as a batch; called again after a lost connection. */
  onSubscribed(isAgain: boolean): void;
  onBatch(batch: LiveBatch): void;
}

interface Feed {
  listeners: Set<FeedListener>;
  isSubscribed: boolean;
}

/** Maximum number of channels in one SUBSCRIBE command. */
const CHANNELS_PER_COMMAND = 500;

/**
 * All live channels of a process over one connection. A channel is subscribed while it has listeners. After a lost
 * connection all are subscribed again and the listeners notified, because messages published in the meantime are lost.
 */
export class LiveFeeds {
  readonly #redis: Redis;
  readonly #codec: EntryCodec;
  readonly #feeds = new Map<string, Feed>();
  readonly #handlers = new Map<string, { handle: (message: string) => void }>();
  #wasConnected = false;

  /** @param redis a connection that is owned by this object from now on */
  constructor(redis: Redis, codec: EntryCodec) {
    this.#redis = redis;
    this.#codec = codec;
    redis.on('message', (channel, message) => this.#deliver(channel, message));
    redis.on('close', () => {
      for (const feed of this.#feeds.values()) feed.isSubscribed = false;
    });
    redis.on('ready', () => {
      const isAgain = this.#wasConnected;
      this.#wasConnected = true;
      void this.#subscribe([...this.#feeds.keys(), ...this.#handlers.keys()], isAgain);
    });
  }

  join(channel: string, listener: FeedListener): void {
    let feed = this.#feeds.get(channel);
    if (!feed) {
      feed = { listeners: new Set(), isSubscribed: false };
      this.#feeds.set(channel, feed);
      feed.listeners.add(listener);
      this.#connectOrSubscribe(channel);
      return;
    }
    feed.listeners.add(listener);
    if (feed.isSubscribed) listener.onSubscribed(false);
  }

  leave(channel: string, listener: FeedListener): void {
    const feed = this.#feeds.get(channel);
    if (!feed?.listeners.delete(listener) || feed.listeners.size > 0) return;
    this.#feeds.delete(channel);
    this.#unsubscribe(channel);
  }

  /** Handles raw messages of a channel; returns a function that ends it. */
  handle(channel: string, handle: (message: string) => void): () => void {
    this.#handlers.set(channel, { handle });
    this.#connectOrSubscribe(channel);
    return () => {
      this.#handlers.delete(channel);
      this.#unsubscribe(channel);
    };
  }

  #connectOrSubscribe(channel: string): void {
    if (this.#redis.status === 'ready') void this.#subscribe([channel], false);
    else if (this.#redis.status === 'wait') this.#redis.connect().catch(() => undefined);
  }

  #unsubscribe(channel: string): void {
    if (this.#redis.status === 'ready') this.#redis.unsubscribe(channel).catch(() => undefined);
  }

  async #subscribe(channels: string[], isAgain: boolean): Promise<void> {
    for (let start = 0; start < channels.length; start += CHANNELS_PER_COMMAND) {
      const some = channels.slice(start, start + CHANNELS_PER_COMMAND);
      try {
        await this.#redis.subscribe(...some);
      } catch {
        // Without the subscription readers would wait in vain: the connection is replaced, and all of this repeated.
        if (this.#redis.status === 'ready') this.#redis.disconnect(true);
        return;
      }
      for (const channel of some) {
        const feed = this.#feeds.get(channel);
        if (!feed) continue;
        feed.isSubscribed = true;
        for (const listener of feed.listeners) listener.onSubscribed(isAgain);
      }
    }
  }

  #deliver(channel: string, message: string): void {
    const feed = this.#feeds.get(channel);
    if (feed) {
      const batch = this.#codec.decodeBatch(message);
      for (const listener of feed.listeners) listener.onBatch(batch);
      return;
    }
    this.#handlers.get(channel)?.handle(message);
  }
}
