import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { PRINCIPAL_HEADER, WORKSPACE_PERMISSIONS } from '@runyard/contracts';
import { type HostUser, hasLoopbackToken, type LoopbackServer, openLoopback, SocketFolder } from '@runyard/host-client';
import {
  decodeUser,
  EXCHANGE_HEADER,
  LOOPBACK_HEADER,
  type Loopback,
  UNKNOWN_USER,
  USER_HEADER,
} from '@runyard/host-protocol';
import {
  INTERNAL,
  type Principal,
  type PrincipalVerifier,
  type RequestHandler,
  type Response,
  UnauthorizedError,
} from '@runyard/service-kit';
import type { UserCaller } from '../auth/user-caller.ts';

/** The project's own code: it has the deployment's rights inside the deployment, and is known nowhere else. */
const PROJECT: Principal = { ...INTERNAL, permissions: WORKSPACE_PERMISSIONS };

type IsForUser = (req: Pick<IncomingMessage, 'headers'>) => boolean;

/** An outside request that the project's app is handling. */
interface Exchange {
  /** Undefined for a caller who was not asked: what is passed on is authenticated like a request from outside. */
  caller: Principal | undefined;
  outer: Response;
}

/**
 * Serves this server to the project's code, over a Unix socket that only this user, and the project's, can open, with a
 * token that only the project's process was given. A request on it is the code's own, with the deployment's rights or
 * those of a user: the one whose credentials it has, or for whom the code says that it works. Or it is the rest of an
 * outside request, with the rights of its caller and counted once.
 */
export class ProjectLoopback {
  readonly folder: SocketFolder;
  /** Authenticates the deployment's own code beside a worker, which calls over the network. */
  readonly workerToken = randomBytes(32).toString('base64url');
  readonly #callers = new WeakMap<IncomingMessage, Principal>();
  readonly #inner = new WeakMap<IncomingMessage, Response>();
  readonly #exchanges = new Map<string, Exchange>();
  #server: LoopbackServer | undefined;
  #app: RequestListener | undefined;

  /** Undefined for a project without users of its own. */
  readonly #isForUser: IsForUser | undefined;

  private constructor(folder: SocketFolder, isForUser: IsForUser | undefined) {
    this.folder = folder;
    this.#isForUser = isForUser;
  }

  /**
   * @param user the user that runs the project's code, when it is not this process's
   * @param isForUser returns whether a request of the project's own code is made for the user whose credentials it has:
   *   that user is its caller then. Left out for a project without users of its own.
   */
  static async open(user?: HostUser, isForUser?: IsForUser): Promise<ProjectLoopback> {
    const loopback = new ProjectLoopback(await SocketFolder.open(user), isForUser);
    loopback.#server = await openLoopback(loopback.folder, (req, res) => loopback.#onRequest(req, res));
    return loopback;
  }

  get endpoint(): Loopback {
    const { socketPath, token } = this.#server as LoopbackServer;
    return { socketPath, token };
  }

  /** Starts answering requests, which are 503 until then. */
  serve(app: RequestListener): void {
    this.#app = app;
  }

  /** Returns a verifier that knows the callers of loopback requests and asks `verifier` about all others. */
  wrapVerifier(verifier: PrincipalVerifier): PrincipalVerifier {
    return {
      authenticate: async (req) => {
        if (req.headers[LOOPBACK_HEADER] !== undefined) this.#admitWorker(req);
        const known = this.#callers.get(req);
        if (known === undefined || (known === PROJECT && this.#isForUser?.(req))) return verifier.authenticate(req);
        return known === PROJECT && this.#isForUser ? callerOfCode(req) : known;
      },
    };
  }

  /** Returns the request by which a caller was authenticated: the outer one where the project's app passed it on. */
  authenticatedRequest(req: IncomingMessage): IncomingMessage {
    return this.#callers.has(req) ? (this.#inner.get(req)?.req ?? req) : req;
  }

  /** Returns whether the project's own code sent the request, or passed it on. */
  isOwn(req: IncomingMessage): boolean {
    return this.#callers.has(req);
  }

  /**
   * Returns whether the request says that the project's own code sends it for itself, which authentication has yet to
   * prove.
   */
  isOwnByClaim(req: IncomingMessage): boolean {
    const isOwn = this.isOwn(req) || req.headers[LOOPBACK_HEADER] !== undefined;
    const known = this.#callers.get(req) ?? PROJECT;
    return isOwn && !(known === PROJECT && this.#isForUser?.(req));
  }

  /** Returns whether the request is the rest of one that is being answered already. */
  readonly isInner = (req: IncomingMessage): boolean => this.#inner.has(req);

  /** Labels the outer request's metrics with the route that served it in the end. */
  readonly labelOuterRoute: RequestHandler = (req, res, next) => {
    const outer = this.#inner.get(req);
    if (outer) res.once('close', () => Object.assign(outer.locals, { route: res.locals.route }));
    next();
  };

  /** Returns the name under which the project's app may pass the request on, once, while it is open. */
  openExchange(exchange: Exchange): string {
    const name = randomUUID();
    this.#exchanges.set(name, exchange);
    exchange.outer.once('close', () => this.#exchanges.delete(name));
    return name;
  }

  async close(): Promise<void> {
    await this.#server?.close();
    await this.folder.remove();
  }

  /** Admits code that runs beside a worker and calls over the network. @throws UnauthorizedError */
  #admitWorker(req: IncomingMessage): void {
    if (!hasLoopbackToken(req, this.workerToken))
      throw new UnauthorizedError('Invalid authentication headers', { code: 'worker_token_invalid' });
    this.#callers.set(req, PROJECT);
  }

  #onRequest: RequestListener = (req, res) => {
    const name = req.headers[EXCHANGE_HEADER];
    delete req.headers[EXCHANGE_HEADER];
    const exchange = typeof name === 'string' ? this.#exchanges.get(name) : undefined;
    if (this.#app === undefined || (name !== undefined && exchange === undefined)) {
      const [status, detail] = this.#app ? [403, 'This request cannot be passed on'] : [503, 'The server is starting'];
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ detail }));
      return;
    }
    if (exchange) {
      this.#exchanges.delete(name as string);
      this.#inner.set(req, exchange.outer);
      // The project's code sees no proof of a caller of the platform, and what it passes on has the client's own.
      const proof = exchange.outer.req.headers[PRINCIPAL_HEADER];
      if (proof === undefined) delete req.headers[PRINCIPAL_HEADER];
      else req.headers[PRINCIPAL_HEADER] = proof;
    }
    const caller = exchange ? exchange.caller : PROJECT;
    if (caller) this.#callers.set(req, caller);
    this.#app(req, res);
  };
}

/**
 * Returns the project's code as the caller: for the user that the request names, about whom the handlers are asked, or
 * with all rights. The code has these anyway, so that it can only take less.
 *
 * @throws UnauthorizedError
 */
function callerOfCode({ headers }: IncomingMessage): Principal | UserCaller {
  const header = headers[USER_HEADER];
  if (header === undefined) return PROJECT;
  if (header === UNKNOWN_USER) {
    throw new UnauthorizedError(
      'It is not known for which run or request this code of the project works: have it send credentials.',
      { code: 'project_user_unknown' },
    );
  }
  const user = readUser(String(header));
  if (user === undefined)
    throw new UnauthorizedError('Invalid authentication headers', { code: 'project_user_invalid' });
  return { ...PROJECT, identity: user.identity, user };
}

function readUser(header: string): UserCaller['user'] | undefined {
  try {
    const user = decodeUser(header);
    return typeof user.identity === 'string' ? user : undefined;
  } catch {
    return undefined;
  }
}
