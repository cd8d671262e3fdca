import type { Redis } from 'ioredis';

const RENEW = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** Chooses the active member of a group: a key that expires when its owner stops renewing it. */
export class GroupLease {
  readonly leaseMs: number;
  readonly #redis: Redis;
  readonly #key: string;
  readonly #owner: string;
  /** Monotonic milliseconds, counted from before each renewal was sent, so never later than Redis's own expiry. */
  #heldUntil = 0;

  constructor(redis: Redis, options: { key: string; owner: string; leaseMs: number }) {
    this.#redis = redis;
    this.#key = options.key;
    this.#owner = options.owner;
    this.leaseMs = options.leaseMs;
  }

  get isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }

  /** Takes or renews the lease; false when another member has it. */
  async acquire(): Promise<boolean> {
    const askedAt = performance.now();
    const taken = await this.#redis.eval(RENEW, 1, this.#key, this.#owner, String(this.leaseMs));
    this.#heldUntil = taken === 1 ? askedAt + this.leaseMs : 0;
    return taken === 1;
  }

  /** Renews in the background, also while an event is being handled; returns a function that ends it. */
  keep(): () => void {
    const timer = setInterval(() => this.acquire().catch(() => undefined), this.leaseMs / 3);
    return () => clearInterval(timer);
  }

  async release(): Promise<void> {
    this.#heldUntil = 0;
    await this.#redis.eval(RELEASE, 1, this.#key, this.#owner).catch(() => undefined);
  }
}
