import { TooManyRequestsError } from '@runyard/service-kit';
import { LRUCache } from 'lru-cache';

interface Bucket {
  tokens: number;
  filledAt: number;
}

/**
 * A token bucket per key: `burst` requests at once, `perSecond` over time. Counted in this replica alone; the limit of the
 * platform is this one times its replicas. Off when `perSecond` is 0.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;
  readonly #buckets: LRUCache<string, Bucket>;

  constructor(options: { perSecond: number; burst?: number | undefined; now?: () => number }) {
    this.#perSecond = options.perSecond;
    this.#burst = options.burst ?? Math.max(1, Math.ceil(options.perSecond * 2));
    this.#now = options.now ?? (() => performance.now());
    // A bucket that falls out is a full one for whoever comes back: the limit errs on the side of letting through.
    this.#buckets = new LRUCache({ max: 50_000 });
  }

  /** @throws TooManyRequestsError */
  take(key: string): void {
    if (this.#perSecond === 0) return;
    const now = this.#now();
    const bucket = this.#buckets.get(key) ?? { tokens: this.#burst, filledAt: now };
    bucket.tokens = Math.min(this.#burst, bucket.tokens + ((now - bucket.filledAt) / 1000) * this.#perSecond);
    bucket.filledAt = now;
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) {
      const retryAfterSeconds = (1 - bucket.tokens) / this.#perSecond;
      throw new TooManyRequestsError('Too many requests with this key', { retryAfterSeconds });
    }
    bucket.tokens -= 1;
  }
}
