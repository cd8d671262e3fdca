import type { IncomingMessage } from 'node:http';
import { MCP_PATH, PROTECTED_RESOURCE_PATH } from '@runyard/contracts';
import { ForbiddenError, type Principal, type PrincipalVerifier } from '@runyard/service-kit';
import { ROUTE_EVENT } from '../auth/auth-events.ts';
import type { Authorizer } from '../auth/authorizer.ts';
import type { CustomRoutePolicy } from '../http/custom-routes.ts';

/**
 * The paths that are open in every project with an `auth.path`, spelled exactly so: one for whatever the project likes,
 * and those where it tells MCP clients who issues tokens for its users.
 */
const OPEN_PATHS: ReadonlySet<string> = new Set([
  '/noauth',
  PROTECTED_RESOURCE_PATH,
  `${PROTECTED_RESOURCE_PATH}${MCP_PATH}`,
]);

export interface CustomRouteAccessOptions {
  principal: PrincipalVerifier;
  /** Asks the handlers of `auth.path`; undefined for a project without: its routes demand callers of the platform. */
  authorizer: Pick<Authorizer, 'authorize'> | undefined;
  policy: CustomRoutePolicy;
}

/** Decides who may call the routes of a project's own app. */
export class CustomRouteAccess {
  readonly #options: CustomRouteAccessOptions;

  constructor(options: CustomRouteAccessOptions) {
    this.#options = options;
  }

  /** Returns whether anybody may call, without being asked who they are. */
  isOpen({ url = '/' }: Pick<IncomingMessage, 'url'>): boolean {
    const { authorizer, policy } = this.#options;
    if (authorizer === undefined) return false;
    // The path is compared as it was sent: what is encoded, doubled or in other case is another path.
    return policy === 'open' || OPEN_PATHS.has(url.split('?', 1)[0]!);
  }

  /**
   * Returns the caller of a route.
   *
   * @throws UnauthorizedError, ForbiddenError, ProjectRefusalError, UnavailableError, AuthHandlerError
   */
  async requireCaller(req: IncomingMessage): Promise<Principal> {
    const caller = await this.#options.principal.authenticate(req);
    await this.requireCall(caller, req);
    return caller;
  }

  /** Lets a caller pass who may call a route. @throws ForbiddenError, ProjectRefusalError, AuthHandlerError */
  async requireCall(caller: Principal, req: IncomingMessage): Promise<void> {
    const { authorizer, policy } = this.#options;
    if (authorizer === undefined || policy !== 'authorized') return;
    const value = { method: req.method ?? 'GET', path: (req.url ?? '/').split('?', 1)[0] };
    const { scope } = await authorizer.authorize(caller, ROUTE_EVENT, value);
    // A filter is about metadata, which a route does not have. One that nothing fits still allows nothing.
    if (scope.length === 0) throw new ForbiddenError('Forbidden', { code: 'denied_by_project' });
  }
}
