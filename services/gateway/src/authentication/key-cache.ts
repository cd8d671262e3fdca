import { createHash } from 'node:crypto';
import { UnavailableError } from '@runyard/service-kit';
import { LRUCache } from 'lru-cache';
import type { KeyAnswer, KeyQuestion } from './key-check.ts';

export interface KeyCacheOptions {
  ask(question: KeyQuestion): Promise<KeyAnswer>;
  /** Monotonic milliseconds: a clock that is set back makes no answer younger. */
  now?: () => number;
  /** Milliseconds since 1970, by which the lives of principal tokens are told. */
  wallClock?: () => number;
  entriesMax?: number;
  /** A key id turned out to be no good: its streams are to be cut. */
  onRevoked?(keyId: string): void;
}

/** An entry this old is used once more while it is renewed, so that callers seldom wait for org-access. */
const RENEW_AFTER_MS = 2_500;
/** What a revocation may take when no hint comes. */
const FRESH_MS = 4_000;
/** How long a good key goes on while org-access is away. */
const STALE_MS = 60_000;
const REFUSED_MS = 2_000;
/** After org-access failed to answer, callers that are known do not wait for it again for this long. */
const AWAY_MS = 1_000;
/** Principal tokens are forwarded with at least this much of their life left. */
const TOKEN_MARGIN_MS = 2_000;

interface Entry {
  answer: KeyAnswer;
  askedAt: number;
  /** When its principal token expires, by the monotonic clock. */
  expiresAt: number;
  renewing: boolean;
  /** A hint came that its key was revoked: the next request asks again. */
  isDoubted: boolean;
}

/**
 * Remembers what org-access said about keys. An answer is used for at most 4 s; for up to 60 s, and never beyond the life
 * of its principal token, while org-access cannot be asked. Requests for one key at one time ask once. A key itself is not
 * kept, only its SHA-256.
 */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #now: () => number;
  readonly #wallClock: () => number;
  readonly #entries: LRUCache<string, Entry>;
  readonly #asking = new Map<string, Promise<KeyAnswer>>();
  #doubts = 0;
  /** Which doubt was the last about a key id: an answer that was under way then may be older than the revocation. */
  readonly #lastDoubts: LRUCache<string, number>;
  #awayUntil = 0;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#wallClock = options.wallClock ?? Date.now;
    this.#entries = new LRUCache({ max: options.entriesMax ?? 10_000 });
    this.#lastDoubts = new LRUCache({ max: 10_000 });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** What entries are held under; for tests. */
  cachedIds(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** Whether the last answer was that the key is good, however long ago. */
  isKnownGood(question: KeyQuestion): boolean {
    return this.#entries.peek(idOf(question))?.answer.kind === 'good';
  }

  /** @throws UnavailableError when nothing usable is known and org-access cannot be asked. */
  check(question: KeyQuestion): KeyAnswer | Promise<KeyAnswer> {
    const id = idOf(question);
    const entry = this.#entries.get(id);
    if (entry) {
      const age = this.#now() - entry.askedAt;
      if (!entry.isDoubted && age < this.#freshMs(entry)) {
        if (age >= RENEW_AFTER_MS && !entry.renewing) this.#renew(id, question, entry);
        return entry.answer;
      }
      if (this.#now() < this.#awayUntil && this.#outlivesOutage(entry)) return entry.answer;
    }
    return this.#askOnce(id, question).catch((error: unknown) => {
      if (entry && this.#entries.get(id) === entry && this.#outlivesOutage(entry)) return entry.answer;
      throw new UnavailableError('Keys cannot be checked at the moment', { cause: error, retryAfterSeconds: 2 });
    });
  }

  /** These keys may have been revoked: whoever uses one next asks org-access. Says nothing about them by itself. */
  doubt(keyIds: ReadonlySet<string>): void {
    this.#doubts += 1;
    for (const keyId of keyIds) this.#lastDoubts.set(keyId, this.#doubts);
    for (const entry of this.#entries.values()) {
      const keyId = keyIdOf(entry.answer);
      if (keyId !== undefined && keyIds.has(keyId)) entry.isDoubted = true;
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

  #renew(id: string, question: KeyQuestion, entry: Entry): void {
    entry.renewing = true;
    this.#askOnce(id, question).catch(() => {
      entry.renewing = false;
    });
  }

  #askOnce(id: string, question: KeyQuestion): Promise<KeyAnswer> {
    let asking = this.#asking.get(id);
    if (!asking) {
      asking = this.#ask(id, question).finally(() => this.#asking.delete(id));
      this.#asking.set(id, asking);
    }
    return asking;
  }

  async #ask(id: string, question: KeyQuestion): Promise<KeyAnswer> {
    let entry = await this.#askForEntry(question);
    if (entry.isDoubted) entry = await this.#askForEntry(question);
    const { answer } = entry;
    const before = this.#entries.peek(id)?.answer;
    this.#entries.set(id, entry);
    const revokedId = before && answer.kind === 'refused' ? keyIdOf(before) : undefined;
    if (revokedId !== undefined) this.#drop(revokedId);
    return answer;
  }

  async #askForEntry(question: KeyQuestion): Promise<Entry> {
    const askedAt = this.#now();
    const doubts = this.#doubts;
    try {
      const answer = await this.#options.ask(question);
      this.#awayUntil = 0;
      const keyId = keyIdOf(answer);
      const isDoubted = keyId !== undefined && (this.#lastDoubts.get(keyId) ?? 0) > doubts;
      return { answer, askedAt, expiresAt: this.#expiryOf(answer), renewing: false, isDoubted };
    } catch (error) {
      this.#awayUntil = this.#now() + AWAY_MS;
      throw error;
    }
  }

  #expiryOf(answer: KeyAnswer): number {
    return answer.kind === 'good' ? this.#now() + answer.claims.exp * 1000 - this.#wallClock() : this.#now();
  }

  /** org-access refused the key: all that is known about it, for any audience, is dropped. */
  #drop(keyId: string): void {
    for (const [id, { answer }] of this.#entries.entries()) {
      if (keyIdOf(answer) === keyId) this.#entries.delete(id);
    }
    this.#options.onRevoked?.(keyId);
  }
}

function keyIdOf(answer: KeyAnswer): string | undefined {
  return answer.kind === 'good' ? answer.claims.key_id : undefined;
}

function idOf({ key, audience, workspaceId = '' }: KeyQuestion): string {
  const hash = createHash('sha256').update(key).digest('base64url');
  return `${hash} ${audience} ${workspaceId}`;
}
