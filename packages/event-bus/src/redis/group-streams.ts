import type { TopicName } from '@runyard/contracts';
import type { Redis } from 'ioredis';
import type { RedisBusConfig, SubscribeOptions } from '../event-bus.ts';
import { streamKey } from './stream-key.ts';

/** The streams that a group reads, with the group on each of them. */
export class GroupStreams {
  readonly #redis: Redis;
  readonly #config: RedisBusConfig;
  readonly #options: SubscribeOptions;
  /** Streams that have the group. */
  readonly #grouped = new Set<string>();
  /** True when groups were lost with the streams: everything in these is newer then. */
  #isRecreating = false;

  constructor(redis: Redis, config: RedisBusConfig, options: SubscribeOptions) {
    this.#redis = redis;
    this.#config = config;
    this.#options = options;
  }

  /**
   * Creates the group where it is missing, and returns the streams that have it with their topics. A stream of another
   * bus is not created: it is left out until its owner has begun it.
   */
  async open(): Promise<Map<string, TopicName>> {
    const { sources } = this.#config;
    const prefixes = sources?.() ?? [this.#config.prefix];
    const streams = new Map(
      prefixes.flatMap((prefix) => this.#options.topics.map((topic) => [streamKey(prefix, topic), topic] as const)),
    );
    const missing = [...streams.keys()].filter((stream) => !this.#grouped.has(stream));
    await Promise.all(missing.map((stream) => this.#create(stream, sources === undefined)));
    if (missing.length > 0) this.#isRecreating = false;
    return new Map([...streams].filter(([stream]) => this.#grouped.has(stream)));
  }

  /** Creates the groups again at the next `open`. */
  forget(): void {
    this.#grouped.clear();
    this.#isRecreating = true;
  }

  async #create(stream: string, isOwn: boolean): Promise<void> {
    const from = this.#options.from === 'latest' && !this.#isRecreating ? '$' : '0';
    const { group } = this.#options;
    try {
      if (isOwn) await this.#redis.xgroup('CREATE', stream, group, from, 'MKSTREAM');
      else await this.#redis.xgroup('CREATE', stream, group, from);
    } catch (error) {
      const { message } = error as Error;
      if (!isOwn && message.includes('requires the key to exist')) return;
      if (!message.startsWith('BUSYGROUP')) throw error;
    }
    this.#grouped.add(stream);
  }
}
