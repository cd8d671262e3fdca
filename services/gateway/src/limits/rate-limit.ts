import { LRUCache } from 'lru-cache';

export interface Rate {
  /** Over time; 0 is no limit. */
  perSecond: number;
  /** At once, by a subject that has rested. */
  burst: number;
}

/** What one subject has taken and not had back yet, as the milliseconds in which it will have. */
export interface Bucket {
  readonly id: string;
  debtMs: number;
  /** When `debtMs` was true. */
  at: number;
  /** The part of it that other replicas do not know of. */
  unsharedMs: number;
}

export interface RateLimitOptions extends Rate {
  /** What is counted, in the words of headers and metrics: `key`, `address`. */
  name: string;
  now?: () => number;
  /** Something was taken: other replicas are to hear of it. */
  onTaken?(bucket: Bucket): void;
}

/** A bucket that falls out is a full one for whoever comes back: the limit errs on the side of letting through. */
const SUBJECTS_MAX = 50_000;

/** A token bucket for each subject of one kind. Counting waits for nobody; what other replicas count comes into it later. */
export class RateLimit {
  readonly name: string;
  /** As `RateLimit-Policy` has it: so many in so many seconds. */
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

  /** Counts one, whether or not there is room. */
  take(subject: string): void {
    const bucket = this.#bucketOf(subject);
    bucket.debtMs += this.#costMs;
    bucket.unsharedMs += this.#costMs;
    this.#buckets.set(subject, bucket);
    this.#onTaken(bucket);
  }

  /** As `RateLimit` has it: how many are left, and the seconds until all are back. */
  state(subject: string): string {
    const { debtMs } = this.#bucketOf(subject);
    const left = Math.max(0, Math.floor((this.#capacityMs - debtMs) / this.#costMs + ROUNDING));
    return `"${this.name}";r=${left};t=${Math.ceil(debtMs / 1000)}`;
  }

  /** Until there is room for one more. */
  retryAfterSeconds(subject: string): number {
    return this.#missingMs(subject) / 1000;
  }

  #missingMs(subject: string): number {
    const missing = this.#bucketOf(subject).debtMs + this.#costMs - this.#capacityMs;
    return missing > this.#costMs * ROUNDING ? missing : 0;
  }

  /** The subject's bucket as it is now. */
  #bucketOf(subject: string): Bucket {
    const now = this.#now();
    const bucket = this.#buckets.get(subject) ?? { id: `${this.name}:${subject}`, debtMs: 0, at: now, unsharedMs: 0 };
    bucket.debtMs = Math.max(0, bucket.debtMs - (now - bucket.at));
    bucket.at = now;
    return bucket;
  }
}

/** Of one request: what sums of fractions may be off. */
const ROUNDING = 1e-6;
