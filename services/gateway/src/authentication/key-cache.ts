import { hash } from 'node:crypto';
import type { PrincipalClaims } from '@runyard/contracts';
import { UnavailableError } from '@runyard/service-kit';
import { LRUCache } from 'lru-cache';
import type { KeyCheckRequest, KeyCheckResult } from './key-check.ts';

export interface KeyCacheOptions {
  ask(request: KeyCheckRequest): Promise<KeyCheckResult>;
  /** Monotonic milliseconds: a clock that is set back makes no answer younger. */
  now?: () => number;
  /** Milliseconds since 1970, for the expiry of principal tokens. */
  wallClock?: () => number;
  /** How many good answers are held, how many others, and how many credentials are known. */
  entriesMax?: number;
  /** Called when a key id turned out to be revoked: its streams have to be cut. */
  onRevoked?(keyId: string): void;
}

/** An entry this old is used once more while it is renewed, so that callers seldom wait for org-access. */
const RENEW_AFTER_MS = 2_500;
/** Milliseconds until a revocation takes effect when no hint comes. */
const FRESH_MS = 4_000;
/** Milliseconds that a good key stays valid while org-access is away. */
const STALE_MS = 60_000;
const REFUSED_MS = 2_000;
/** Milliseconds after a failure of org-access in which known callers do not wait for it again. */
const AWAY_MS = 1_000;
/** Milliseconds of life that a forwarded principal token has left at least. */
const TOKEN_MARGIN_MS = 2_000;

interface Entry {
  answer: KeyCheckResult;
  askedAt: number;
  /** The expiry of its principal token, by the monotonic clock. */
  expiresAt: number;
  renewing: boolean;
  /** True when a hint came that its key was revoked: the next request asks again. */
  isInvalidated: boolean;
}

/**
 * Caches the answers of org-access about keys. An answer is used for at most 4 s; for up to 60 s, and never beyond the
 * life of its principal token, while org-access is unavailable. Concurrent requests with one key ask once. A key itself
 * is not kept, only its SHA-256. Good answers and others are held apart: a caller has as many good ones as there are
 * places it reaches, and can ask for any number that it does not reach.
 */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #now: () => number;
  readonly #wallClock: () => number;
  readonly #good: LRUCache<string, Entry>;
  readonly #refusals: LRUCache<string, Entry>;
  /** The ids of credentials that were good at the last answer, also where they did not reach what was requested. */
  readonly #known: LRUCache<string, true>;
  readonly #asking = new Map<string, Promise<KeyCheckResult>>();
  #invalidations = 0;
  /**
   * The number of the last invalidation of an id: an answer that was in flight then may be older than the revocation.
   */
  readonly #lastInvalidations: LRUCache<string, number>;
  #awayUntil = 0;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#wallClock = options.wallClock ?? Date.now;
    const max = options.entriesMax ?? 10_000;
    this.#good = new LRUCache({ max });
    this.#refusals = new LRUCache({ max });
    this.#known = new LRUCache({ max });
    this.#lastInvalidations = new LRUCache({ max: 10_000 });
  }

  get size(): number {
    return this.#good.size + this.#refusals.size;
  }

  /** Returns the ids of entries, for tests. */
  cachedIds(): string[] {
    return [...this.#good.keys(), ...this.#refusals.keys()];
  }

  /** Returns whether the last answer was that the key is good, however long ago. */
  isKnownGood(request: KeyCheckRequest): boolean {
    return this.#good.has(idOf(request));
  }

  /** Returns whether org-access answered that the credential itself is good, wherever it was used. */
  isKnown(credentialId: string): boolean {
    return this.#known.has(credentialId);
  }

  /** @throws UnavailableError when there is no usable answer and org-access is unavailable. */
  check(request: KeyCheckRequest): KeyCheckResult | Promise<KeyCheckResult> {
    const id = idOf(request);
    const entry = this.#find(id);
    if (entry) {
      const age = this.#now() - entry.askedAt;
      if (!entry.isInvalidated && age < this.#freshMs(entry)) {
        if (age >= RENEW_AFTER_MS && !entry.renewing) this.#renew(id, request, entry);
        return entry.answer;
      }
      if (this.#now() < this.#awayUntil && this.#outlivesOutage(entry)) return entry.answer;
    }
    return this.#askOnce(id, request).catch((error: unknown) => {
      if (entry && this.#find(id) === entry && this.#outlivesOutage(entry)) return entry.answer;
      throw new UnavailableError('Keys cannot be checked at the moment', {
        code: 'key_check_unavailable',
        cause: error,
        retryAfterSeconds: 2,
      });
    });
  }

  /**
   * Marks the answers about these keys, sessions, identities and organizations: the next request with such a credential
   * asks org-access. This alone refuses nobody.
   */
  invalidate(ids: ReadonlySet<string>): void {
    this.#invalidations += 1;
    for (const id of ids) this.#lastInvalidations.set(id, this.#invalidations);
    for (const entry of this.#good.values()) {
      if (subjectsOf(entry.answer).some((id) => ids.has(id))) entry.isInvalidated = true;
    }
  }

  #freshMs({ answer, askedAt, expiresAt }: Entry): number {
    if (answer.kind !== 'good') return REFUSED_MS;
    return Math.min(FRESH_MS, expiresAt - TOKEN_MARGIN_MS - askedAt);
  }

  #outlivesOutage({ answer, askedAt, expiresAt }: Entry): boolean {
    const now = this.#now();
    return answer.kind === 'good' && now - askedAt < STALE_MS && expiresAt > now;
  }

  #renew(id: string, request: KeyCheckRequest, entry: Entry): void {
    entry.renewing = true;
    this.#askOnce(id, request).catch(() => {
      entry.renewing = false;
    });
  }

  #askOnce(id: string, request: KeyCheckRequest): Promise<KeyCheckResult> {
    let asking = this.#asking.get(id);
    if (!asking) {
      asking = this.#ask(id, request).finally(() => this.#asking.delete(id));
      this.#asking.set(id, asking);
    }
    return asking;
  }

  async #ask(id: string, request: KeyCheckRequest): Promise<KeyCheckResult> {
    let entry = await this.#askForEntry(request);
    if (entry.isInvalidated) entry = await this.#askForEntry(request);
    const { answer } = entry;
    const revokedId = answer.kind === 'refused' ? keyIdOf(this.#good.peek(id)?.answer) : undefined;
    this.#store(id, request, entry);
    if (revokedId !== undefined) this.#drop(revokedId);
    return answer;
  }

  #find(id: string): Entry | undefined {
    return this.#good.get(id) ?? this.#refusals.get(id);
  }

  #store(id: string, { key }: KeyCheckRequest, entry: Entry): void {
    const isGood = entry.answer.kind === 'good';
    (isGood ? this.#good : this.#refusals).set(id, entry);
    (isGood ? this.#refusals : this.#good).delete(id);
    if (entry.answer.kind === 'refused') this.#known.delete(credentialIdOf(key));
    else this.#known.set(credentialIdOf(key), true);
  }

  async #askForEntry(request: KeyCheckRequest): Promise<Entry> {
    const askedAt = this.#now();
    const invalidations = this.#invalidations;
    try {
      const answer = await this.#options.ask(request);
      this.#awayUntil = 0;
      const isInvalidated = subjectsOf(answer).some((id) => (this.#lastInvalidations.get(id) ?? 0) > invalidations);
      return { answer, askedAt, expiresAt: this.#expiryOf(answer), renewing: false, isInvalidated };
    } catch (error) {
      this.#awayUntil = this.#now() + AWAY_MS;
      throw error;
    }
  }

  #expiryOf(answer: KeyCheckResult): number {
    return answer.kind === 'good' ? this.#now() + answer.claims.exp * 1000 - this.#wallClock() : this.#now();
  }

  /** Drops all entries of a key that org-access refused, for any audience. */
  #drop(keyId: string): void {
    for (const [id, { answer }] of this.#good.entries()) {
      if (keyIdOf(answer) === keyId) this.#good.delete(id);
    }
    this.#options.onRevoked?.(keyId);
  }
}

function keyIdOf(answer: KeyCheckResult | undefined): string | undefined {
  return answer?.kind === 'good' ? answer.claims.key_id : undefined;
}

function subjectsOf(answer: KeyCheckResult): readonly string[] {
  return answer.kind === 'good' ? subjectsOfClaims(answer.claims) : [];
}

/** Returns the ids of whatever may change the worth of a credential: itself, its owner, and the owner's organization. */
export function subjectsOfClaims({ key_id, session_id, sub, organization_id }: PrincipalClaims): readonly string[] {
  return [key_id, session_id, sub, organization_id].filter((id) => id !== undefined);
}

/** Returns the id by which a credential is known here: not the credential itself. */
export function credentialIdOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

function idOf({ key, audience, workspaceId = '', organizationId = '', isInProgress }: KeyCheckRequest): string {
  const isOf = isInProgress ? ' in progress' : '';
  return `${credentialIdOf(key)} ${audience} ${workspaceId} ${organizationId}${isOf}`;
}
