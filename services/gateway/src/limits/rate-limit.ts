import { LRUCache } from 'lru-cache';

export interface Rate {
  /** The sustained rate; 0 is no limit. */
  perSecond: number;
  /** The number of requests at once by a subject that has rested. */
  burst: number;
}

/** The debt of one subject, in the milliseconds that paying it back takes. */
export interface Bucket {
  readonly id: string;
  debtMs: number;
  /** The time of `debtMs`. */
  at: number;
  /** The part of the debt that other replicas do not know of. */
  unsharedMs: number;
}

export interface RateLimitOptions extends Rate {
  /** The counted dimension, in the words of headers and metrics: `key`, `address`. */
  name: string;
  now?: () => number;
  /** Called after each take: other replicas have to learn of it. */
  onTaken?(bucket: Bucket): void;
}

/** An evicted bucket is a full one for a subject that returns: the limit errs on the side of letting through. */
const SUBJECTS_MAX = 50_000;

/**
 * A token bucket for each subject of one kind. Counting waits for nobody; the counts of other replicas come into it
 * later.
 */
export class RateLimit {
  readonly name: string;
  /** The value of `RateLimit-Policy`: so many in so many seconds. */
  readonly policy: string;
  readonly #costMs: number;
  readonly #capacityMs: number;
  readonly #now: () => number;
  readonly #onTaken: (bucket: Bucket) => void;
  readonly #buckets = new LRUCache<string, Bucket>({ max: SUBJECTS_MAX });

  constructor({ name, perSecond, burst, now = () => performance.now(), onTaken = () => undefined }: RateLimitOptions) {
    this.name = name;
    this.policy = `"${name}";q=${burst};w=${Math.ceil(burst / perSecond)}`;
    this.#costMs = 1000 / perSecond;
    this.#capacityMs = burst * this.#costMs;
    this.#now = now;
    this.#onTaken = onTaken;
  }

  hasRoom(subject: string): boolean {
    return this.#missingMs(subject) === 0;
  }

  /** Counts one request, whether or not there is room. */
  take(subject: string): void {
    const bucket = this.#bucketOf(subject);
    bucket.debtMs += this.#costMs;
    bucket.unsharedMs += this.#costMs;
    this.#buckets.set(subject, bucket);
    this.#onTaken(bucket);
  }

  /** Returns the value of `RateLimit`: how many are left, and the seconds until all are back. */
  state(subject: string): string {
    const { debtMs } = this.#bucketOf(subject);
    const left = Math.max(0, Math.floor((this.#capacityMs - debtMs) / this.#costMs + ROUNDING));
    return `"${this.name}";r=${left};t=${Math.ceil(debtMs / 1000)}`;
  }

  /** Returns the seconds until there is room for one more. */
  retryAfterSeconds(subject: string): number {
    return this.#missingMs(subject) / 1000;
  }

  #missingMs(subject: string): number {
    const missing = this.#bucketOf(subject).debtMs + this.#costMs - this.#capacityMs;
    return missing > this.#costMs * ROUNDING ? missing : 0;
  }

  /** Returns the subject's bucket with its debt as of now. */
  #bucketOf(subject: string): Bucket {
    const now = this.#now();
    const bucket = this.#buckets.get(subject) ?? { id: `${this.name}:${subject}`, debtMs: 0, at: now, unsharedMs: 0 };
    bucket.debtMs = Math.max(0, bucket.debtMs - (now - bucket.at));
    bucket.at = now;
    return bucket;
  }
}

/** The part of one request by which sums of fractions may be off. */
const ROUNDING = 1e-6;
