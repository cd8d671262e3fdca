import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import {
  EXCHANGE_HEADER,
  type HostUser,
  isFrom,
  LOOPBACK_HEADER,
  type Loopback,
  type LoopbackServer,
  openLoopback,
  SocketFolder,
} from '@runyard/graph-host';
import {
  INTERNAL,
  type Principal,
  type PrincipalVerifier,
  type RequestHandler,
  type Response,
  UnauthorizedError,
} from '@runyard/service-kit';

/** The project's own code: it may do in its deployment what the deployment may, and is known nowhere else. */
const PROJECT: Principal = { ...INTERNAL, organizationRole: 'admin' };

/** A request from outside that the project's app was asked about. */
interface Exchange {
  caller: Principal;
  outer: Response;
}

/**
 * This very server as the project's code reaches it: over a Unix socket that only this user, and the project's, can open, with a token only
 * the project's process was given. What comes this way is either the code's own request, with the deployment's rights, or
 * the rest of a request from outside, with the rights of its caller and counted once.
 */
export class OwnServer {
  readonly folder: SocketFolder;
  /** Opens this server to the deployment's own code at another place. */
  readonly workerToken = randomBytes(32).toString('base64url');
  readonly #callers = new WeakMap<IncomingMessage, Principal>();
  readonly #inner = new WeakMap<IncomingMessage, Response>();
  readonly #exchanges = new Map<string, Exchange>();
  #server: LoopbackServer | undefined;
  #app: RequestListener | undefined;

  private constructor(folder: SocketFolder) {
    this.folder = folder;
  }

  /** @param user whom the project's code runs as, when it is another than this process's */
  static async open(user?: HostUser): Promise<OwnServer> {
    const own = new OwnServer(await SocketFolder.open(user));
    own.#server = await openLoopback(own.folder, (req, res) => own.#onRequest(req, res));
    return own;
  }

  get loopback(): Loopback {
    const { socketPath, token } = this.#server as LoopbackServer;
    return { socketPath, token };
  }

  /** From here on requests are answered. */
  serve(app: RequestListener): void {
    this.#app = app;
  }

  /** Knows the callers of requests that came this way, and asks `verifier` about all others. */
  knowing(verifier: PrincipalVerifier): PrincipalVerifier {
    return {
      authenticate: async (req) => {
        if (req.headers[LOOPBACK_HEADER] !== undefined) this.#admitWorker(req);
        return this.#callers.get(req) ?? verifier.authenticate(req);
      },
    };
  }

  /** The project's own code sent it, or passed it on. */
  isOwn(req: IncomingMessage): boolean {
    return this.#callers.has(req);
  }

  /** It is the rest of a request that is being answered already. */
  readonly isInner = (req: IncomingMessage): boolean => this.#inner.has(req);

  /** Gives the outer request's metrics the route that served it in the end. */
  readonly tellRoute: RequestHandler = (req, res, next) => {
    const outer = this.#inner.get(req);
    if (outer) res.once('close', () => Object.assign(outer.locals, { route: res.locals.route }));
    next();
  };

  /** The name under which the project's app may pass the request on, once, while it is open. */
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

  /** Code that runs beside a worker asks over the network. */
  #admitWorker(req: IncomingMessage): void {
    if (!isFrom(req, this.workerToken)) throw new UnauthorizedError('Invalid authentication headers');
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
    }
    this.#callers.set(req, exchange?.caller ?? PROJECT);
    this.#app(req, res);
  };
}
