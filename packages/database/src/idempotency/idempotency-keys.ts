import { setTimeout as pause } from 'node:timers/promises';
import { type Operation, REPLAYED_HEADER } from '@runyard/contracts';
import {
  type BoundOperation,
  bind,
  type HandlerRequest,
  type Reply,
  UnavailableError,
  type ValidationErrorStyle,
} from '@runyard/service-kit';
import type pg from 'pg';
import type { Static, TObject, TSchema } from 'typebox';
import {
  CLAIM_MS,
  type ClaimedKey,
  claimKey,
  findKey,
  KeyTakenError,
  onPg,
  releaseKeys,
  settleKeys,
  unbindKey,
} from './key-claims.ts';
import {
  type AnswerSeal,
  type KeyedRequest,
  type KeyedRequestOptions,
  keyedRequest,
  refusal,
} from './keyed-request.ts';

export interface IdempotencyKeysOptions {
  pool: pg.Pool;
  /** How answers are kept. */
  seal: AnswerSeal;
  /** How long a key is bound to what it made. */
  keptHours: number;
  /** How the service tells of faulty requests. */
  validationErrors?: ValidationErrorStyle;
}

export interface Creation<Answer, Kept> {
  /** Creates; with a request, its key is claimed and settled with the kept value in the transaction that creates. */
  create(request: KeyedRequest | undefined): Promise<Answer>;
  /** The answer once more, from what was kept with the key. */
  repeat(kept: Kept): Answer;
}

interface UnderWay {
  digest: Buffer;
  creation: Promise<unknown>;
}

/** Longer than any claim without an answer can last. */
const WAIT_MS_MAX = CLAIM_MS + 5_000;
const LOOK_MS = { first: 20, last: 500 };

/**
 * Creations by requests that are sent again, because their answer was lost or because several were sent at once: each key of a
 * caller creates once, and every further request with it is answered as the first one was.
 *
 * The truth is the key's row, written in the transaction that creates (`key-claims.ts`). What this adds: requests of one process
 * share a creation under way instead of meeting in the database, and its error, which binds no key.
 */
export class IdempotencyKeys {
  readonly #pool: pg.Pool;
  readonly #seal: AnswerSeal;
  readonly #requests: KeyedRequestOptions;
  readonly #underWay = new Map<string, UnderWay>();

  constructor({ pool, seal, keptHours, validationErrors = 'text' }: IdempotencyKeysOptions) {
    this.#pool = pool;
    this.#seal = seal;
    this.#requests = { keptMs: keptHours * 3_600_000, seal, validationErrors };
  }

  /** @throws UnprocessableError for a key that is none, or that another request has been sent with */
  async once<Answer, Kept>(
    operation: Operation,
    asked: HandlerRequest,
    creation: Creation<Answer, Kept>,
  ): Promise<Answer> {
    const request = keyedRequest(operation, asked, this.#requests);
    if (!request) return creation.create(undefined);
    const name = request.id.toString('hex');
    for (;;) {
      await this.#awaitUnderWay(name, request);
      const kept = await this.#kept(request);
      if (kept !== undefined) {
        asked.res.setHeader(REPLAYED_HEADER, 'true');
        return creation.repeat(JSON.parse(this.#seal.open(kept).toString('utf8')));
      }
      // Another may have begun while the database was asked.
      if (this.#underWay.has(name)) continue;
      try {
        return await this.#lead(name, request, creation.create(request));
      } catch (error) {
        if (!(error instanceof KeyTakenError)) throw error;
      }
    }
  }

  /** Claims a key ahead of the transaction that creates, for work that takes its time. @throws KeyTakenError */
  claim(request: KeyedRequest): Promise<ClaimedKey> {
    return claimKey(onPg(this.#pool), request);
  }

  /** Binds a claimed key to its answer; of one that is bound the answer is another now. @throws KeyTakenError */
  settle(request: KeyedRequest, answer: unknown): Promise<void> {
    return settleKeys(onPg(this.#pool), [{ request, answer }]);
  }

  /** Frees a claimed key, unless it is bound: there is nothing to answer. */
  release(request: KeyedRequest): Promise<void> {
    return releaseKeys(onPg(this.#pool), [request]);
  }

  /** Frees a bound key: what it made has been taken back. */
  unbind(request: KeyedRequest): Promise<void> {
    return unbindKey(onPg(this.#pool), request);
  }

  async #lead<Answer>(name: string, { digest }: KeyedRequest, creation: Promise<Answer>): Promise<Answer> {
    this.#underWay.set(name, { digest, creation });
    try {
      return await creation;
    } finally {
      this.#underWay.delete(name);
    }
  }

  async #awaitUnderWay(name: string, { digest }: KeyedRequest): Promise<void> {
    const underWay = this.#underWay.get(name);
    if (!underWay) return;
    try {
      await underWay.creation;
    } catch (error) {
      // The same request would fare no better; another one has the key to itself now.
      if (!(error instanceof KeyTakenError) && underWay.digest.equals(digest)) throw error;
    }
  }

  /** What the key is bound to; undefined for a free one. Waits while another process is at it. */
  async #kept(request: KeyedRequest): Promise<Uint8Array | undefined> {
    const givenUpAt = performance.now() + WAIT_MS_MAX;
    for (let waitMs = LOOK_MS.first; ; waitMs = Math.min(waitMs * 2, LOOK_MS.last)) {
      const known = await findKey(onPg(this.#pool), request.id);
      if (!known) return undefined;
      if (!request.digest.equals(known.digest)) {
        throw refusal('was sent with another request before: a key names one request', this.#requests.validationErrors);
      }
      if (known.answer) return known.answer;
      if (performance.now() > givenUpAt) {
        throw new UnavailableError('The first request with this idempotency key is still under way', {
          retryAfterSeconds: 1,
        });
      }
      await pause(waitMs);
    }
  }
}

/** An operation whose answer is what it made: `create` gives the body, kept with the key, and `reply` makes the answer of it. */
export function bindCreation<
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Made extends object | unknown[],
>(
  keys: IdempotencyKeys,
  operation: Operation<Params, Query, Body>,
  reply: (made: Made) => Reply,
  create: (
    request: HandlerRequest<Static<Params>, Static<Query>, Static<Body>>,
    keyed: KeyedRequest | undefined,
  ) => Promise<Made>,
): BoundOperation {
  return bind(operation, (request) =>
    keys.once(operation as unknown as Operation, request, {
      create: async (keyed) => reply(await create(request, keyed)),
      repeat: reply,
    }),
  );
}
