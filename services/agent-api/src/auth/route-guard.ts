import type { Operation } from '@runyard/contracts';
import type { IdempotencyKeys, KeyedRequest } from '@runyard/idempotency';
import { type BoundOperation, bind, type HandlerRequest, type HandlerResult, type Reply } from '@runyard/service-kit';
import type { Static, TObject, TSchema } from 'typebox';
import { type Scope, UNRESTRICTED } from '../access/scope.ts';
import { askAboutEach, askAboutOne, type GuardParts } from './ask-about-request.ts';
import type { Question } from './question.ts';

/** An operation that says what the project's handlers decide about it. */
export interface GuardedOperation extends BoundOperation {
  /** The questions that are asked first, or the reason why there are none. */
  readonly guard: readonly Question[] | string;
}

export type Questions = readonly [Question, ...Question[]];
/** The answers: what the caller may see, by question. */
export type ScopesOf<Asked extends Questions> = { readonly [Index in keyof Asked]: Scope };

type RequestOf<Params extends TObject, Query extends TObject, Body extends TSchema> = HandlerRequest<
  Static<Params>,
  Static<Query>,
  Static<Body>
>;

/**
 * Binds operations to handlers behind the questions to the project. A handler gets the request as the project left it,
 * the scope of each answer, and the request as the client sent it. Without `auth.path` nothing is asked, and every scope
 * is unrestricted.
 */
export class RouteGuard {
  readonly #parts: GuardParts | undefined;

  /** @param parts left out where the project does not decide about callers */
  constructor(parts?: GuardParts) {
    this.#parts = parts;
  }

  bind<Params extends TObject, Query extends TObject, Body extends TSchema, const Asked extends Questions>(
    operation: Operation<Params, Query, Body>,
    questions: Asked,
    handler: (
      request: RequestOf<Params, Query, Body>,
      scopes: ScopesOf<Asked>,
      original: RequestOf<Params, Query, Body>,
    ) => Promise<HandlerResult>,
  ): GuardedOperation {
    const parts = this.#parts;
    if (!parts) {
      const open = openScopes(questions);
      return { ...bind(operation, (request) => handler(request, open, request)), guard: questions };
    }
    const ask = askAboutOne(parts, operation as unknown as Operation, questions);
    const guarded = bind(operation, async (original) => {
      const { request, scopes } = await ask(original);
      return handler(request as typeof original, scopes as unknown as ScopesOf<Asked>, original);
    });
    return { ...guarded, guard: questions };
  }

  /** Binds an operation whose body is a list, about each item of which the questions are asked. */
  bindList<Params extends TObject, Query extends TObject, Body extends TSchema, const Asked extends Questions>(
    operation: Operation<Params, Query, Body>,
    questions: Asked,
    handler: (
      request: RequestOf<Params, Query, Body>,
      scopes: ScopesOf<Asked>[],
      original: RequestOf<Params, Query, Body>,
    ) => Promise<HandlerResult>,
  ): GuardedOperation {
    const parts = this.#parts;
    if (!parts) {
      const open = openScopes(questions);
      const guarded = bind(operation, (request) => {
        const items = request.body as unknown[];
        return handler(request, Array<ScopesOf<Asked>>(items.length).fill(open), request);
      });
      return { ...guarded, guard: questions };
    }
    const ask = askAboutEach(parts, operation as unknown as Operation, questions);
    const guarded = bind(operation, async (original) => {
      const { request, scopes } = await ask(original);
      return handler(request as typeof original, scopes as unknown as ScopesOf<Asked>[], original);
    });
    return { ...guarded, guard: questions };
  }

  /** Binds an operation that creates: see `bindCreation` of `@runyard/idempotency`. Its key is of the original request. */
  bindCreation<
    Params extends TObject,
    Query extends TObject,
    Body extends TSchema,
    const Asked extends Questions,
    Made extends object,
  >(
    keys: IdempotencyKeys,
    operation: Operation<Params, Query, Body>,
    questions: Asked,
    reply: (made: Made) => Reply,
    create: (
      request: RequestOf<Params, Query, Body>,
      scopes: ScopesOf<Asked>,
      keyed: KeyedRequest | undefined,
    ) => Promise<Made>,
  ): GuardedOperation {
    return this.bind(operation, questions, (request, scopes, original) =>
      keys.once(operation as unknown as Operation, original, {
        create: async (keyed) => reply(await create(request, scopes, keyed)),
        repeat: reply,
      }),
    );
  }

  /** Binds an operation about which the project's handlers have no say. @param reason a sentence */
  exempt<Params extends TObject, Query extends TObject, Body extends TSchema>(
    operation: Operation<Params, Query, Body>,
    reason: string,
    handler: (request: RequestOf<Params, Query, Body>) => Promise<HandlerResult> | Reply,
  ): GuardedOperation {
    return { ...bind(operation, handler), guard: reason };
  }
}

function openScopes<Asked extends Questions>(questions: Asked): ScopesOf<Asked> {
  return questions.map(() => UNRESTRICTED) as unknown as ScopesOf<Asked>;
}
