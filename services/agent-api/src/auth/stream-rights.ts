import type { IncomingMessage } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import {
  AppError,
  abortResponse,
  type HandlerRequest,
  type Logger,
  type Middleware,
  type Principal,
  type PrincipalVerifier,
} from '@runyard/service-kit';
import { isRestricted, type Scope, UNRESTRICTED } from '../access/scope.ts';
import { ProjectRefusalError } from './auth-answers.ts';
import type { Authorizer } from './authorizer.ts';
import { isProjectUser, userOf } from './user-caller.ts';

/** Milliseconds between two questions about one stream. */
const ASK_EVERY_MS = 60_000;

/** Operations whose answers have no end of their own; the others end with their run. */
const ENDLESS: ReadonlySet<string> = new Set(['joinThreadStream', 'streamEvents']);

const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

export interface StreamRightsOptions {
  verifier: PrincipalVerifier;
  authorizer: Pick<Authorizer, 'authorize'>;
  /** Returns undefined for a thread that is not in the scope. */
  threads: { findWithoutState(scope: Scope, threadId: string): Promise<unknown> };
  logger: Logger;
  /** Default a minute. */
  everyMs?: number;
}

/** A stream that its client alone ends, or a websocket. */
export interface WatchedStream {
  /** The request that opened it. */
  req: IncomingMessage;
  /** The caller as it was then. */
  caller: Principal;
  connection: { once(event: 'close', listener: () => void): unknown };
  /** Ends it, so that its client comes back and is refused. */
  end(): void;
  /** Is told how the project describes the caller by now: commands are those of this caller. */
  onCaller?(caller: Principal): void;
}

/** The right to a thread by which somebody got a stream of it. */
export type ThreadRight =
  | { event: 'threads:read'; value?: undefined }
  | { event: 'threads:create_run'; value: { assistant_id: string } };

const READ: ThreadRight = { event: 'threads:read' };

/** The part of the thread that a caller may see. */
interface Sight {
  scope: Scope;
  seesThread: boolean;
}

/** The caller as the project describes it by now, and what it may see; `refused` when that is nothing. */
type Rights = (Sight & { caller: Principal }) | 'refused';

/** Asks the project what a caller may see. @throws what refuses it */
type AskProject = (caller: Principal) => Promise<Sight>;

/**
 * Ends streams whose callers have lost the right to them, where the project decides about callers: it asks the project
 * again while a stream is open. A project that cannot answer ends none.
 */
export class StreamRights {
  readonly #options: StreamRightsOptions;

  constructor(options: StreamRightsOptions) {
    this.#options = options;
  }

  /** Middleware: a stream of a thread ends when the project refuses its caller. */
  readonly endWhenRefused: Middleware = ({ operation, handler }) => ({
    operation,
    handler: async (request) => {
      if (ENDLESS.has(operation.operationId)) {
        this.watchAnswer(request, (request.params as { thread_id: string }).thread_id);
      }
      return handler(request);
    },
  });

  /** Ends an answer that shows a thread when the project refuses its caller. */
  watchAnswer(
    { raw, res, caller }: Pick<HandlerRequest, 'raw' | 'res' | 'caller'>,
    threadId: string,
    right: ThreadRight = READ,
  ): void {
    // The project's own code is not asked about.
    if (!userOf(caller) || res.closed) return;
    this.watch({ req: raw, caller, threadId, right, connection: res, end: () => abortResponse(res) });
  }

  /** Asks about a stream of a thread until its connection is closed, and ends it when its caller sees less than before. */
  watch(stream: WatchedStream & { threadId: string; right?: ThreadRight }): void {
    this.#watch(stream, (caller) => this.#askAboutThread(caller, stream.threadId, stream.right ?? READ));
  }

  /** Asks about a websocket of the project's own app. @param requireCall throws what refuses the caller its route */
  watchCall(stream: WatchedStream, requireCall: (caller: Principal) => Promise<unknown>): void {
    if (!userOf(stream.caller)) return;
    this.#watch(stream, async (caller) => {
      await requireCall(caller);
      return { scope: UNRESTRICTED, seesThread: false };
    });
  }

  #watch(stream: WatchedStream, askProject: AskProject): void {
    let known = this.#ask(stream, askProject);
    const timer = setInterval(async () => {
      const [before, now] = await Promise.all([known, this.#ask(stream, askProject)]);
      if (now === undefined) return;
      known = Promise.resolve(now);
      if (hasLost(before, now)) {
        clearInterval(timer);
        stream.end();
      } else if (now !== 'refused') stream.onCaller?.(now.caller);
    }, this.#options.everyMs ?? ASK_EVERY_MS);
    stream.connection.once('close', () => clearInterval(timer));
  }

  /** Returns undefined when the project cannot answer. */
  async #ask({ req, caller }: WatchedStream, askProject: AskProject): Promise<Rights | undefined> {
    const { verifier, logger } = this.#options;
    try {
      // The gateway follows the rights of others, whose proof of now is short-lived.
      const current = isProjectUser(caller) ? await verifier.authenticate(req) : caller;
      if (current.identity !== caller.identity) return 'refused';
      return { caller: current, ...(await askProject(current)) };
    } catch (error) {
      if (isRefusal(error)) return 'refused';
      logger.warn('rights to a stream not asked about, will retry', { error });
      return undefined;
    }
  }

  async #askAboutThread(caller: Principal, threadId: string, { event, value }: ThreadRight): Promise<Sight> {
    const { authorizer, threads } = this.#options;
    const { scope } = await authorizer.authorize(caller, event, { thread_id: threadId, ...value });
    const seesThread = isRestricted(scope) && (await threads.findWithoutState(scope, threadId)) !== undefined;
    return { scope, seesThread };
  }
}

/** A stream of a thread that its caller never saw tells nothing by its end. */
function hasLost(before: Rights | undefined, now: Rights): boolean {
  if (now === 'refused') return true;
  if (before === undefined || before === 'refused') return false;
  return !isDeepStrictEqual(now.scope, before.scope) || (before.seesThread && !now.seesThread);
}

function isRefusal(error: unknown): boolean {
  return error instanceof ProjectRefusalError || (error instanceof AppError && REFUSALS.has(error.status));
}
