import { setTimeout as pause } from 'node:timers/promises';
import { type Operation, REPLAYED_HEADER } from '@runyard/contracts';
import {
  type BoundOperation,
  bind,
  ClientDisconnectedError,
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
  type AnswerCipher,
  type Asked,
  isSameRequest,
  type KeyedRequest,
  type KeyedRequestOptions,
  keyedRequest,
  namedRequest,
  nameId,
  refusal,
} from './keyed-request.ts';

export interface IdempotencyKeysOptions {
  pool: pg.Pool;
  /** Encrypts stored answers. */
  cipher: AnswerCipher;
  /** Hours for which a key is bound to what it created. */
  keptHours: number;
  /** The form in which the service reports faulty requests. */
  validationErrors?: ValidationErrorStyle;
}

export interface Creation<Answer, Kept> {
  /** Creates. With a request, its key is claimed and settled with the stored value in the transaction that creates. */
  create(request: KeyedRequest | undefined): Promise<Answer>;
  /** Makes the answer again from the value that is stored with the key. */
  repeat(kept: Kept): Answer;
}

/** A request for a creation, as far as it identifies what is created, with the response to it. */
export type AskedCreation = Asked & Pick<HandlerRequest, 'res'>;

interface UnderWay {
  request: KeyedRequest;
  creation: Promise<unknown>;
}

/** Longer than a claim without an answer can last. */
const WAIT_MS_MAX = CLAIM_MS + 5_000;
const LOOK_MS = { first: 20, last: 500 };

/**
 * Handles creations by repeated requests, after a lost answer or several at once: each key of a caller creates once,
 * and every further request with it gets the answer of the first one.
 *
 * The key's row decides; it is written in the transaction that creates (`key-claims.ts`). In addition, requests of one
 * process share a creation in flight instead of meeting in the database. They also share its error, which binds no key.
 */
export class IdempotencyKeys {
  readonly #pool: pg.Pool;
  readonly #cipher: AnswerCipher;
  readonly #requests: KeyedRequestOptions;
  readonly #underWay = new Map<string, UnderWay>();

  constructor({ pool, cipher, keptHours, validationErrors = 'text' }: IdempotencyKeysOptions) {
    this.#pool = pool;
    this.#cipher = cipher;
    this.#requests = { keptMs: keptHours * 3_600_000, cipher, validationErrors };
  }

  /** @throws UnprocessableError for an invalid key, or one that was sent with another request */
  async once<Answer, Kept>(
    operation: Operation,
    asked: AskedCreation,
    creation: Creation<Answer, Kept>,
  ): Promise<Answer> {
    const request = keyedRequest(operation, asked, this.#requests);
    if (!request) return creation.create(undefined);
    return this.#once(request, {
      ...creation,
      repeat: (kept: Kept) => {
        asked.res.setHeader(REPLAYED_HEADER, 'true');
        return creation.repeat(kept);
      },
    });
  }

  /** Creates once for a name that the request has without a header, like an id that its client chose. */
  onceNamed<Answer, Kept>(name: readonly string[], creation: Creation<Answer, Kept>): Promise<Answer> {
    return this.#once(namedRequest(name, this.#requests), creation);
  }

  /** Returns the value that is stored with a name; undefined when nothing was created for it, or too long ago. */
  async findNamed<Kept>(name: readonly string[]): Promise<Kept | undefined> {
    const known = await findKey(onPg(this.#pool), nameId(name));
    return known?.answer ? this.#read<Kept>(known.answer) : undefined;
  }

  async #once<Answer, Kept>(request: KeyedRequest, creation: Creation<Answer, Kept>): Promise<Answer> {
    const name = request.id.toString('hex');
    for (;;) {
      await this.#awaitUnderWay(name, request);
      const kept = await this.#kept(request);
      if (kept !== undefined) return creation.repeat(this.#read<Kept>(kept));
      // Another request may have begun during the query.
      if (this.#underWay.has(name)) continue;
      try {
        return await this.#lead(name, request, creation.create(request));
      } catch (error) {
        if (!(error instanceof KeyTakenError)) throw error;
      }
    }
  }

  /** Claims a key before the transaction that creates, for work that takes long. @throws KeyTakenError */
  claim(request: KeyedRequest): Promise<ClaimedKey> {
    return claimKey(onPg(this.#pool), request);
  }

  /** Binds a claimed key to its answer, or replaces the answer of a bound one. @throws KeyTakenError */
  settle(request: KeyedRequest, answer: unknown): Promise<void> {
    return settleKeys(onPg(this.#pool), [{ request, answer }]);
  }

  /** Frees a claimed key when there is no answer, unless it is bound. */
  release(request: KeyedRequest): Promise<void> {
    return releaseKeys(onPg(this.#pool), [request]);
  }

  /** Frees a bound key after its creation was undone. */
  unbind(request: KeyedRequest): Promise<void> {
    return unbindKey(onPg(this.#pool), request);
  }

  #read<Kept>(answer: Uint8Array): Kept {
    return JSON.parse(this.#cipher.decrypt(answer).toString('utf8')) as Kept;
  }

  async #lead<Answer>(name: string, request: KeyedRequest, creation: Promise<Answer>): Promise<Answer> {
    this.#underWay.set(name, { request, creation });
    try {
      return await creation;
    } finally {
      this.#underWay.delete(name);
    }
  }

  async #awaitUnderWay(name: string, request: KeyedRequest): Promise<void> {
    const underWay = this.#underWay.get(name);
    if (!underWay) return;
    try {
      await underWay.creation;
    } catch (error) {
      // The same request would fail again, unless it was the client that left; a different one can have the key now.
      const isOfTheRequest = !(error instanceof KeyTakenError || error instanceof ClientDisconnectedError);
      if (isOfTheRequest && isSameRequest(underWay.request, request)) throw error;
    }
  }

  /** Returns the answer to which the key is bound; undefined for a free one. Waits while another process creates. */
  async #kept(request: KeyedRequest): Promise<Uint8Array | undefined> {
    const givenUpAt = performance.now() + WAIT_MS_MAX;
    for (let waitMs = LOOK_MS.first; ; waitMs = Math.min(waitMs * 2, LOOK_MS.last)) {
      const known = await findKey(onPg(this.#pool), request.id);
      if (!known) return undefined;
      if (!isSameRequest(request, known)) {
        throw refusal(
          'was sent with another request before: a key names one request',
          this.#requests.validationErrors,
          'idempotency_key_reused',
        );
      }
      if (known.answer) return known.answer;
      if (performance.now() > givenUpAt) {
        throw new UnavailableError('The first request with this idempotency key is still under way', {
          code: 'idempotency_key_in_use',
          retryAfterSeconds: 1,
        });
      }
      await pause(waitMs);
    }
  }
}

/**
 * Binds an operation whose answer describes what it created: `create` returns the body, which is stored with the key,
 * and `reply` makes the answer of it.
 */
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
