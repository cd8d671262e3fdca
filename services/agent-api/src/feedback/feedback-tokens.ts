import { createHmac, timingSafeEqual } from 'node:crypto';

/** The run and the key that a token's bearer may give feedback on. */
export interface FeedbackSubject {
  runId: string;
  key: string;
}

export interface FeedbackTokensOptions {
  signingKey: Uint8Array;
  ttlSeconds: number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** Keeps feedback tokens apart from anything else that is signed with the same key. */
const PURPOSE = 'feedback.v1.';

/**
 * Issues and reads the tokens of feedback URLs: each stands for one key of one run until it expires, and none is
 * stored. Every process of a deployment accepts the tokens of the others.
 */
export class FeedbackTokens {
  readonly #options: FeedbackTokensOptions;

  constructor(options: FeedbackTokensOptions) {
    this.#options = options;
  }

  issue({ runId, key }: FeedbackSubject): string {
    const expires = Math.floor(this.#now() / 1000) + this.#options.ttlSeconds;
    const claims = Buffer.from(JSON.stringify([runId, key, expires])).toString('base64url');
    return `${claims}.${this.#sign(claims).toString('base64url')}`;
  }

  /** Returns undefined when the token is not ours, was changed, or has expired. */
  read(token: string): FeedbackSubject | undefined {
    const [claims = '', signature = '', ...rest] = token.split('.');
    const given = Buffer.from(signature, 'base64url');
    const right = this.#sign(claims);
    if (rest.length > 0 || given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
    const [runId, key, expires] = JSON.parse(Buffer.from(claims, 'base64url').toString()) as [string, string, number];
    return expires * 1000 > this.#now() ? { runId, key } : undefined;
  }

  #sign(claims: string): Buffer {
    return createHmac('sha256', this.#options.signingKey)
      .update(PURPOSE + claims)
      .digest();
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}
