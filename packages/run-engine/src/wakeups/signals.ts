import { duplicateConnection, openQueueConnection } from '@runyard/signals/queue-connection';
import type { Redis } from 'ioredis';
import type { RunWakeupsOptions } from './run-wakeups.ts';

export interface SignalsOptions extends RunWakeupsOptions {
  /** The subject of the signal: `webhooks` to send, or `crons` whose next slot has changed. */
  topic: 'webhooks' | 'crons';
}

/**
 * Wakes the processes of a deployment when there is work, which they find in Postgres. A lost signal costs the time
 * until they poll. It must be sent after the commit.
 */
export class WorkSignals {
  readonly #redis: Redis;
  readonly #channel: string;
  readonly #onError: (error: Error) => void;
  #listening: Redis | undefined;
  #listener: () => void = () => undefined;
  #isSending = false;
  #isAskedAgain = false;

  constructor({ redis, keyPrefix, topic, onError = () => undefined }: SignalsOptions) {
    this.#redis = openQueueConnection(redis, onError);
    this.#channel = `${keyPrefix}:${topic}`;
    this.#onError = onError;
  }

  /** Returns at once; calls during a send become one. Listeners in this process need no Redis. */
  send(): void {
    this.#listener();
    this.#publish();
  }

  /**
   * Calls back at each signal, and after a time without Redis, in which signals may have been lost. Can be called once.
   */
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
