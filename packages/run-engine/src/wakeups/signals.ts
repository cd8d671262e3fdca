import type { Redis } from 'ioredis';
import { duplicateConnection, openWakeupConnection } from './redis-connection.ts';
import type { RunWakeupsOptions } from './run-wakeups.ts';

export interface SignalsOptions extends RunWakeupsOptions {
  /** What there is news about: `webhooks` to be sent, `crons` whose next slot is another. */
  topic: 'webhooks' | 'crons';
}

/**
 * Tells the processes of a deployment that there is something to do. What, is in Postgres: a signal that is lost costs the time
 * until they look by themselves. To be called after the commit.
 */
export class Signals {
  readonly #redis: Redis;
  readonly #channel: string;
  readonly #onError: (error: Error) => void;
  #listening: Redis | undefined;
  #listener: () => void = () => undefined;
  #isSending = false;
  #isAskedAgain = false;

  constructor({ redis, keyPrefix, topic, onError = () => undefined }: SignalsOptions) {
    this.#redis = openWakeupConnection(redis, onError);
    this.#channel = `${keyPrefix}:${topic}`;
    this.#onError = onError;
  }

  /** Nobody waits for it; calls that come while one is being sent become one. This process needs no Redis to hear itself. */
  send(): void {
    this.#listener();
    this.#publish();
  }

  /** Calls back at each signal, and after a time without Redis, in which some may have been lost. Once per object. */
  onSignal(listener: () => void): void {
    const listening = duplicateConnection(this.#redis, this.#onError);
    this.#listening = listening;
    this.#listener = listener;
    listening.on('message', listener);
    listening.on('ready', listener);
    listening.subscribe(this.#channel).catch(this.#onError);
  }

  close(): void {
    this.#listening?.disconnect();
    this.#redis.disconnect();
  }

  #publish(): void {
    if (this.#isSending) {
      this.#isAskedAgain = true;
      return;
    }
    this.#isSending = true;
    void this.#redis
      .publish(this.#channel, '')
      .catch(this.#onError)
      .finally(() => {
        this.#isSending = false;
        if (!this.#isAskedAgain) return;
        this.#isAskedAgain = false;
        this.#publish();
      });
  }
}
