import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AuthUser } from '@runyard/host-protocol';

/** `auth.cache` of `langgraph.json`. */
export interface AuthCacheSettings {
  /** Names of the headers that say who calls. */
  cache_keys?: string[];
  ttl_seconds?: number;
  max_size?: number;
}

const TTL_SECONDS = 60;
const SIZE_MAX = 1_000;

/**
 * Remembers users by the headers that the project names, for a while. Refusals are not remembered. Values of headers are
 * credentials: only a hash of them is kept.
 */
export class AuthCache {
  readonly #names: string[];
  readonly #ttlMs: number;
  readonly #sizeMax: number;
  readonly #users = new Map<string, { user: AuthUser; expiresAt: number }>();

  constructor({ cache_keys = [], ttl_seconds = TTL_SECONDS, max_size = SIZE_MAX }: AuthCacheSettings = {}) {
    this.#names = cache_keys.map((name) => name.toLowerCase()).sort();
    this.#ttlMs = ttl_seconds * 1000;
    this.#sizeMax = max_size;
  }

  /** Returns the user that the project has named for the same headers; otherwise asks, and remembers. */
  async userOf(req: IncomingMessage, ask: () => Promise<AuthUser>): Promise<AuthUser> {
    const key = this.#keyOf(req);
    if (key === undefined) return ask();
    const known = this.#users.get(key);
    if (known && known.expiresAt > Date.now()) return known.user;
    this.#users.delete(key);
    const user = await ask();
    if (this.#users.size >= this.#sizeMax) this.#users.delete(this.#users.keys().next().value as string);
    this.#users.set(key, { user, expiresAt: Date.now() + this.#ttlMs });
    return user;
  }

  /** Returns undefined for a request that has none of the headers: nothing tells it from those of others. */
  #keyOf({ headersDistinct }: IncomingMessage): string | undefined {
    const values = this.#names.map((name) => headersDistinct[name] ?? []);
    if (values.every((each) => each.length === 0)) return undefined;
    return createHash('sha256').update(JSON.stringify(values)).digest('base64url');
  }
}
