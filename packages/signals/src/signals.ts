import { type Logger, startRedisHeartbeat } from '@runyard/service-kit';
import { Redis } from 'ioredis';

/** Signals whose publication failed, and which are published when Redis is back; for more, one that says so is. */
const UNPUBLISHED_MAX = 1_000;
/** Is published in place of signals that were lost here: who receives it looks again at all. */
const LOST = 'lost signals';

/**
 * Wakes all processes of a service when something changed. A signal is only a name; the truth is in the rows.
 * Signals get lost while Redis is unavailable, so listeners look again when it is back and when their wait times out.
 */
export class Signals {
  readonly #channel: string;
  readonly #publisher: Redis;
  readonly #subscriber: Redis;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #followers: { prefix: string; follower: Follower }[] = [];
  readonly #unpublished = new Set<string>();
  readonly #logger: Logger;
  #isDraining = false;

  /** @param channel a process receives only signals of the same channel */
  constructor(redisUri: string, { channel, logger }: { channel: string; logger: Logger }) {
    this.#logger = logger;
    this.#channel = `runyard:${channel}`;
    const open = (name: string) =>
      new Redis(redisUri, {
        connectionName: `runyard-${channel}-${name}`,
        enableOfflineQueue: false,
        autoResubscribe: false,
        maxRetriesPerRequest: 0,
        connectTimeout: 3_000,
        retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2_000),
      }).on('error', () => undefined); // Failed commands report the loss; without a listener it would end the process.
    this.#publisher = open('publisher');
    this.#subscriber = open('subscriber');
    for (const connection of [this.#publisher, this.#subscriber]) startRedisHeartbeat(connection);
    this.#publisher.on('ready', () => this.#publishLeft());
    this.#subscriber.on('ready', () => void this.#subscribe());
    this.#subscriber.on('message', (_channel, name) => (name === LOST ? this.#reportLoss() : this.#wake(name)));
  }

  /** Wakes the listeners of this name, and those who follow it, in this process at once and in the others. */
  send(name: string): void {
    this.#wake(name);
    this.#publish(name);
  }

  /** Follows all names that begin with the prefix. A follower may hear a signal of its own process twice. */
  follow(prefix: string, follower: Follower): void {
    this.#followers.push({ prefix, follower });
  }

  /** Listens from now on, so that a signal between a look and the wait for a change is not missed. */
  listen(name: string): Listening {
    const waiting = new Set<() => void>();
    let heard = false;
    const hear = () => {
      heard = true;
      for (const wake of waiting) wake();
    };
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(hear));
    return {
      next: (timeoutMs, signal) =>
        new Promise((resolve) => {
          const done = () => {
            clearTimeout(timer);
            waiting.delete(done);
            signal?.removeEventListener('abort', done);
            heard = false;
            resolve();
          };
          const timer = setTimeout(done, timeoutMs);
          waiting.add(done);
          signal?.addEventListener('abort', done);
          if (heard || this.#isDraining || signal?.aborted) done();
        }),
      stop: () => {
        listeners.delete(hear);
        if (listeners.size === 0) this.#listeners.delete(name);
      },
    };
  }

  /** True when the process is draining. Then waits return at once. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  drain(): void {
    this.#isDraining = true;
    this.#wakeAll();
  }

  close(): void {
    this.#publisher.disconnect();
    this.#subscriber.disconnect();
  }

  async #subscribe(): Promise<void> {
    await this.#subscriber.subscribe(this.#channel).catch(() => undefined); // A reconnection subscribes again.
    this.#reportLoss();
  }

  #reportLoss(): void {
    this.#wakeAll();
    for (const { follower } of this.#followers) follower.onLoss();
  }

  #publish(name: string): void {
    this.#publisher.publish(this.#channel, name).catch((error: unknown) => {
      this.#unpublished.add(this.#unpublished.size < UNPUBLISHED_MAX ? name : LOST);
      this.#logger.warn('signal not published', { channel: this.#channel, error });
    });
  }

  #publishLeft(): void {
    const left = [...this.#unpublished];
    this.#unpublished.clear();
    for (const name of left) this.#publish(name);
  }

  #wake(name: string): void {
    for (const hear of this.#listeners.get(name) ?? []) hear();
    for (const { prefix, follower } of this.#followers) {
      if (name.startsWith(prefix)) follower.onSignal(name.slice(prefix.length));
    }
  }

  #wakeAll(): void {
    for (const name of [...this.#listeners.keys()]) this.#wake(name);
  }
}

export interface Follower {
  /** @param rest the name after the prefix */
  onSignal(rest: string): void;
  /** Called at the first connection, after each outage, and when another process has lost signals in one. */
  onLoss(): void;
}

export interface Listening {
  /** Resolves at the next signal, after `timeoutMs`, or when `signal` aborts. */
  next(timeoutMs: number, signal?: AbortSignal): Promise<void>;
  stop(): void;
}
