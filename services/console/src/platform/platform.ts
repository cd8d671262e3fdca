import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  BadGatewayError,
  ClientDisconnectedError,
  clientAddressHeaders,
  excludeFromInFlight,
  NotFoundError,
  requestIdOf,
  sendStream,
  UnauthorizedError,
  UnavailableError,
} from '@runyard/service-kit';
import { type Dispatcher, request } from 'undici';
import { requireOwnScript } from '../sign-in/browser.ts';
import type { ConsoleCookies } from '../sign-in/cookies.ts';
import { SessionPlaces } from '../sign-in/session-places.ts';
import type { ConsoleSessions } from '../sign-in/sessions.ts';
import { platformTarget } from './paths.ts';

/** Headers of a page's request that mean something to the platform. */
const ASKED_WITH = [
  'accept',
  'accept-language',
  'content-type',
  'content-length',
  'idempotency-key',
  'if-match',
  'last-event-id',
  'user-agent',
  'x-organization-id',
  'x-tenant-id',
] as const;

/** Headers of an answer that mean something to a page: no deployment sets a cookie, a policy or a redirect here. */
const ANSWERED_WITH: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'content-location',
  'content-type',
  'etag',
  'location',
  'retry-after',
  'x-pagination-next',
  'x-pagination-total',
  'x-request-id',
]);

/** An answer of a deployment is text for scripts, whatever it calls itself: no browser shows it as a page of the console. */
const HARMLESS = {
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
};

/** More than all windows of a browser have, and a fraction of what the process has room for. */
const REQUESTS_OF_SESSION_MAX = 100;

/** An answer of the platform. */
export type PlatformAnswer = Dispatcher.ResponseData;

/** Asks the gateway as the person of a browser: what a page sees is what the same person's programs see. */
export class Platform {
  readonly #sessions: ConsoleSessions;
  readonly #cookies: ConsoleCookies;
  readonly #origin: string;
  readonly #gatewayUrl: string;
  readonly #internalToken: string;
  readonly #dispatcher: Dispatcher;
  readonly #places = new SessionPlaces(REQUESTS_OF_SESSION_MAX);

  constructor(options: {
    sessions: ConsoleSessions;
    cookies: ConsoleCookies;
    /** The console's own. */
    origin: string;
    gatewayUrl: string;
    internalToken: string;
    dispatcher: Dispatcher;
  }) {
    this.#sessions = options.sessions;
    this.#cookies = options.cookies;
    this.#origin = options.origin;
    this.#gatewayUrl = options.gatewayUrl.replace(/\/$/, '');
    this.#internalToken = options.internalToken;
    this.#dispatcher = options.dispatcher;
  }

  /**
   * Passes a page's request on, and the answer back.
   *
   * @throws ForbiddenError when it is not of a page of the console, UnauthorizedError without a session, NotFoundError,
   * UnavailableError
   */
  async pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const session = this.requireSession(req);
    this.#places.take(session, res);
    const target = platformTarget(req.url ?? '');
    if (target === undefined) throw new NotFoundError('The console does not ask for this', { code: 'route_not_found' });
    const abort = new AbortController();
    res.once('close', () => abort.abort());
    const method = req.method ?? 'GET';
    const headers = Object.fromEntries(
      ASKED_WITH.flatMap((name) => (req.headers[name] === undefined ? [] : [[name, String(req.headers[name])]])),
    );
    const hasBody = req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined;
    const answer = await this.ask(req, session, {
      method: method as Dispatcher.HttpMethod,
      target,
      headers,
      body: hasBody ? req : null,
      signal: abort.signal,
    });
    // An answer may go on for as long as a run does.
    excludeFromInFlight(res);
    res.writeHead(answer.statusCode, { ...passedHeaders(answer.headers), ...HARMLESS });
    await sendStream(answer.body, res);
  }

  /**
   * Returns the session of a browser whose page asks.
   *
   * @throws ForbiddenError when no page of the console asks, UnauthorizedError without a session
   */
  requireSession(req: IncomingMessage): string {
    requireOwnScript({ method: req.method ?? '', headers: req.headers }, this.#origin);
    const session = this.#cookies.sessionIn(req.headers.cookie);
    if (session === undefined) throw new UnauthorizedError('Sign in first', { code: 'session_invalid' });
    return session;
  }

  /** @throws UnauthorizedError when the session has ended, UnavailableError */
  async requireLiveSession(session: string): Promise<void> {
    await this.#sessions.accessToken(session);
  }

  /**
   * Asks the gateway with a session's rights.
   *
   * @param req the browser's, whose address the platform counts and limits
   * @throws UnauthorizedError, BadGatewayError, UnavailableError
   */
  async ask(
    req: IncomingMessage,
    session: string,
    asked: {
      method: Dispatcher.HttpMethod;
      /** Path and query. */
      target: string;
      headers: Record<string, string>;
      body: IncomingMessage | string | null;
      signal: AbortSignal;
    },
  ): Promise<PlatformAnswer> {
    const token = await this.#sessions.accessToken(session);
    const { target, ...options } = asked;
    const answer = await request(this.#gatewayUrl + target, {
      ...options,
      dispatcher: this.#dispatcher,
      headers: {
        ...asked.headers,
        authorization: `Bearer ${token}`,
        'x-request-id': requestIdOf(req),
        ...this.#addressOf(req.headers),
      },
    }).catch((cause: unknown) => {
      if (asked.signal.aborted) throw new ClientDisconnectedError(cause);
      throw new UnavailableError('The gateway cannot be reached at the moment', {
        code: 'upstream_unreachable',
        retryAfterSeconds: 1,
        cause,
      });
    });
    // Whoever reads it learns of an error; a body that nobody reads must not end the process by one.
    answer.body.on('error', () => {});
    // It belongs to a session that has just ended.
    if (answer.statusCode === 401) this.#sessions.forget(session);
    if (answer.statusCode >= 300 && answer.statusCode < 400 && answer.statusCode !== 304) {
      answer.body.destroy();
      throw new BadGatewayError('The answer leads elsewhere, where pages of the console do not follow', {
        code: 'upstream_answer_invalid',
      });
    }
    return answer;
  }

  /** Returns the headers by which the gateway learns the browser's address, which it told this service itself. */
  #addressOf({ 'x-forwarded-for': address }: IncomingHttpHeaders): Record<string, string> {
    return typeof address === 'string' ? clientAddressHeaders(this.#internalToken, address) : {};
  }
}

function passedHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const passed = Object.entries(headers).filter(([name, value]) => ANSWERED_WITH.has(name) && value !== undefined);
  return Object.fromEntries(passed) as Record<string, string | string[]>;
}
