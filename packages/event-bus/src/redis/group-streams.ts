import type { Logger } from '@runyard/service-kit';
import type { Redis } from 'ioredis';
import type { Origin } from '../delivery.ts';
import type { RedisBusConfig, SubscribeOptions } from '../event-bus.ts';
import { streamKey } from './stream-key.ts';

/** A stream of another bus that does not exist yet, or cannot be read, is looked at again after so long. */
const LOOK_AGAIN_MS = 1_000;
const LONGEST_MS = 60_000;

/** The streams that a group reads, with the group on each of them. */
export class GroupStreams {
  readonly #redis: Redis;
  readonly #config: RedisBusConfig;
  readonly #options: SubscribeOptions;
  readonly #logger: Logger;
  /** Streams that have the group. */
  readonly #grouped = new Set<string>();
  /** Monotonic times before which streams are not looked at, and the milliseconds that they waited. */
  readonly #waiting = new Map<string, { until: number; forMs: number }>();
  /** True when groups were lost with the streams: everything in these is newer then. */
  #isRecreating = false;

  constructor(redis: Redis, config: RedisBusConfig, options: SubscribeOptions, logger: Logger) {
    this.#redis = redis;
    this.#config = config;
    this.#options = options;
    this.#logger = logger;
  }

  /** True when the streams are those of other buses, whose owners may do anything with them. */
  get areOfOthers(): boolean {
    return this.#config.sources !== undefined;
  }

  /**
   * Creates the group where it is missing, and returns the streams that have it. A stream of another bus is not created:
   * it is left out until its owner has begun it.
   */
  async open(): Promise<Map<string, Origin>> {
    const streams = this.#list();
    const now = performance.now();
    const missing = [...streams.keys()].filter(
      (stream) => !this.#grouped.has(stream) && !((this.#waiting.get(stream)?.until ?? 0) > now),
    );
    await Promise.all(missing.map((stream) => (this.areOfOthers ? this.#join(stream) : this.#create(stream))));
    this.#isRecreating = false;
    for (const stream of this.#waiting.keys()) if (!streams.has(stream)) this.#waiting.delete(stream);
    return new Map([...streams].filter(([stream]) => this.#grouped.has(stream)));
  }

  /** Creates the groups again at the next `open`. */
  forget(): void {
    this.#grouped.clear();
    this.#isRecreating = true;
  }

  /** Leaves out a stream of another bus that cannot be read, for longer each time. */
  setAside(stream: string, error: unknown): void {
    this.#grouped.delete(stream);
    const forMs = Math.min(LONGEST_MS, 2 * (this.#waiting.get(stream)?.forMs ?? LOOK_AGAIN_MS / 2));
    this.#waiting.set(stream, { until: performance.now() + forMs, forMs });
    this.#logger.warn('event stream cannot be read, will retry', { stream, retryInMs: forMs, error });
  }

  /** Forgets how long streams were left out. */
  wereRead(streams: readonly string[]): void {
    if (this.#waiting.size > 0) for (const stream of streams) this.#waiting.delete(stream);
  }

  #list(): Map<string, Origin> {
    const { prefix, sources } = this.#config;
    const { topics } = this.#options;
    if (!sources) return new Map(topics.map((topic) => [streamKey(prefix, topic), { topic }]));
    return new Map(
      sources().flatMap((source) => topics.map((topic) => [streamKey(source, topic), { topic, source }] as const)),
    );
  }

  async #create(stream: string): Promise<void> {
    try {
      await this.#redis.xgroup('CREATE', stream, this.#options.group, this.#begin(), 'MKSTREAM');
    } catch (error) {
      if (!isThere(error)) throw error;
    }
    this.#grouped.add(stream);
  }

  async #join(stream: string): Promise<void> {
    try {
      await this.#redis.xgroup('CREATE', stream, this.#options.group, this.#begin());
    } catch (error) {
      if (isMissing(error)) {
        this.#waiting.set(stream, { until: performance.now() + LOOK_AGAIN_MS, forMs: LOOK_AGAIN_MS });
        return;
      }
      if (isFaultOfStream(error)) return this.setAside(stream, error);
      if (!isThere(error)) throw error;
    }
    this.#grouped.add(stream);
  }

  #begin(): '$' | '0' {
    return this.#options.from === 'latest' && !this.#isRecreating ? '$' : '0';
  }
}

/** Returns whether one stream alone is to blame: it is something else, or its group is gone. */
export function isFaultOfStream(error: unknown): boolean {
  return error instanceof Error && /^(WRONGTYPE|NOGROUP) /.test(error.message);
}

function isThere(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('BUSYGROUP');
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.message.includes('requires the key to exist');
}
