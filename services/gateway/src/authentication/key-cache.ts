import { createHash } from 'node:crypto';
import { UnavailableError } from '@runyard/service-kit';
import { LRUCache } from 'lru-cache';
import type { KeyAnswer, KeyQuestion } from './key-check.ts';

export interface KeyCacheOptions {
  ask(question: KeyQuestion): Promise<KeyAnswer>;
  now?: () => number;
  entriesMax?: number;
  /** A key id turned out to be no good: its streams are to be cut. */
  onRevoked?(keyId: string): void;
}

/** An entry this old is used once more while it is renewed, so that callers seldom wait for org-access. */
const RENEW_AFTER_MS = 2_500;
/** What revocation may take when no event tells of it. */
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
  renewing: boolean;
}

/**
 * Remembers what org-access said about keys. An answer is used for at most 4 s; for up to 60 s, and never beyond the life
 * of its principal token, while org-access cannot be asked. Requests for one key at one time ask once. A key itself is not
 * kept, only its SHA-256.
 */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #now: () => number;
  readonly #entries: LRUCache<string, Entry>;
  readonly #asking = new Map<string, Promise<KeyAnswer>>();
  /** Key ids revoked a short while ago: an answer that was under way then may still call them good. */
  readonly #revoked: LRUCache<string, true>;
  #awayUntil = 0;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#entries = new LRUCache({ max: options.entriesMax ?? 10_000 });
    this.#revoked = new LRUCache({ max: 10_000 });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** What entries are held under; for tests. */
  cachedIds(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** @throws UnavailableError when nothing usable is known and org-access cannot be asked. */
  check(question: KeyQuestion): KeyAnswer | Promise<KeyAnswer> {
    const id = idOf(question);
    const entry = this.#entries.get(id);
    if (entry) {
      const age = this.#now() - entry.askedAt;
      if (age < this.#freshMs(entry)) {
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

  /** Drops all that is known about a key. */
  revoke(keyId: string): void {
    this.#revoked.set(keyId, true);
    for (const [id, { answer }] of this.#entries.entries()) {
      if (answer.kind === 'good' && answer.claims.key_id === keyId) this.#entries.delete(id);
    }
    this.#options.onRevoked?.(keyId);
  }

  #freshMs({ answer, askedAt }: Entry): number {
    if (answer.kind !== 'good') return REFUSED_MS;
    return Math.min(FRESH_MS, answer.claims.exp * 1000 - TOKEN_MARGIN_MS - askedAt);
  }

  #outlivesOutage({ answer, askedAt }: Entry): boolean {
    const now = this.#now();
    return answer.kind === 'good' && now - askedAt < STALE_MS && answer.claims.exp * 1000 > now;
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
    const askedAt = this.#now();
    let answer = await this.#options.ask(question).catch((error: unknown) => {
      this.#awayUntil = this.#now() + AWAY_MS;
      throw error;
    });
    this.#awayUntil = 0;
    if (answer.kind === 'good' && answer.claims.key_id !== undefined && this.#revoked.has(answer.claims.key_id)) {
      answer = { kind: 'refused' };
    }
    const before = this.#entries.peek(id)?.answer;
    this.#entries.set(id, { answer, askedAt, renewing: false });
    if (before?.kind === 'good' && answer.kind === 'refused' && before.claims.key_id !== undefined) {
      this.revoke(before.claims.key_id);
    }
    return answer;
  }
}

function idOf({ key, audience, workspaceId = '' }: KeyQuestion): string {
  const hash = createHash('sha256').update(key).digest('base64url');
  return `${hash} ${audience} ${workspaceId}`;
}
