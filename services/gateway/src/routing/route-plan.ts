import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CONSOLE_SERVICE,
  DEPLOYMENTS_PREFIX,
  type DeploymentRoute,
  type GatewayService,
  isUuid,
} from '@runyard/contracts';
import { isPreflight, NotFoundError, UnavailableError, UpgradeRequiredError } from '@runyard/service-kit';
import {
  type AdmittedCaller,
  admitToDeployment,
  admitToService,
  admitToSignIn,
  admitWithKey,
  admitWithoutKey,
  findWorkspaceOfCaller,
  requireRoute,
  UNAUTHENTICATED,
  type Visit,
} from '../authentication/admission.ts';
import { limitToNetworks } from '../authentication/allowed-networks.ts';
import type { KeyChecker } from '../authentication/key-check.ts';
import { UpstreamLoad } from '../limits/upstream-load.ts';
import type { PlatformCookies } from '../proxy/origin-rules.ts';
import { UpstreamChoice } from '../proxy/upstream-choice.ts';
import type { ClientAddresses } from '../requests/client-address.ts';
import type { DeploymentHosts } from './deployment-hosts.ts';
import type { DeploymentTable } from './deployment-table.ts';
import { isKeyless, isMcp, isMetrics } from './keyless-paths.ts';
import type { Destination } from './resolve-path.ts';
import type { RootDeployment } from './root-deployment.ts';
import { isRunRequest } from './run-requests.ts';

/** The route plan of a request: where it goes, and as whom. */
export interface RoutePlan {
  upstreams: readonly string[];
  /** Counts their unanswered requests. */
  load: UpstreamLoad;
  /** Path and query at the upstream. */
  target: string;
  /** The part that was taken off the path. */
  prefix: string;
  caller: AdmittedCaller;
  /** The owner of the run that the request keeps going; undefined for other requests. */
  runOwner?: { workspaceId: string; organizationId: string };
  /** True for a service of the platform, false for a deployment, whose project may read what it gets. */
  isService: boolean;
  /** The cookies of the platform that the destination gets. */
  platformCookies: PlatformCookies;
  /** The name of the destination, for messages. */
  name: string;
}

/** A request to plan. */
interface Arrival {
  req: IncomingMessage;
  /** Checks the request's credentials, and limits it. */
  check: KeyChecker;
}

export interface RoutePlannerParts {
  table: DeploymentTable;
  hosts: DeploymentHosts;
  root: RootDeployment;
  addresses: ClientAddresses;
  /** The load of deployments. */
  load: UpstreamLoad;
  /** Undefined for a service that this platform does not have. */
  serviceUrls: Record<GatewayService, string | undefined>;
  /** Base URL of the gateway as clients know it. */
  publicUrl: string;
  /** Called when a deployment was not reached on its route: it may be somewhere else by now. */
  onDeadRoute(): void;
  /** Resolves when the table has routes that were requested after this call. */
  newRoutes(): Promise<void>;
}

/** A new deployment is known here within so long; nobody waits longer for a deployment that does not run. */
const NEW_ROUTES_MS = 1_000;

/** org-access serves the sign-in pages; oauth-broker knows browsers again that come back from OAuth providers. */
const COOKIES: Record<GatewayService, PlatformCookies> = {
  'org-access': 'sign-in',
  'control-plane': 'none',
  'oauth-broker': 'oauth',
  registry: 'none',
  'run-history': 'none',
  console: 'console',
};

/** Services of the platform leave long polls unanswered: their number is no sign of load. */
const UNBOUNDED = new UpstreamLoad({ maxUnanswered: Number.POSITIVE_INFINITY });

/**
 * Plans requests: it authenticates, then admits, then routes, in this order, so that a stranger learns nothing about
 * what exists.
 */
export class RoutePlanner {
  readonly #parts: RoutePlannerParts;
  readonly #upstreams: UpstreamChoice;
  readonly #publicUrl: URL;

  constructor(parts: RoutePlannerParts) {
    this.#parts = parts;
    this.#publicUrl = new URL(parts.publicUrl);
    this.#upstreams = new UpstreamChoice(parts.load);
  }

  async plan({ req, check }: Arrival, destination: Destination): Promise<RoutePlan> {
    if (destination.kind === 'none') throw noRoute();
    return destination.kind === 'service'
      ? this.#planService({ req, check }, destination)
      : this.#planDeployment({ req, check }, destination);
  }

  /** Puts an upstream after the others for a while. */
  readonly avoid = (upstream: string): void => {
    this.#upstreams.avoid(upstream);
    this.#parts.onDeadRoute();
  };

  async #planService(arrival: Arrival, destination: Destination & { kind: 'service' }): Promise<RoutePlan> {
    const { req } = arrival;
    const { service, target, stripped, isSelfAuthenticating, isSignIn, requiresHttp11 } = destination;
    const upstream = this.#parts.serviceUrls[service];
    if (upstream === undefined) throw noRoute();
    if (requiresHttp11 && req.httpVersion === '1.0') throw new UpgradeRequiredError('This path needs HTTP/1.1');
    const admitCaller = isSignIn ? admitToSignIn : admitToService;
    const caller =
      isSelfAuthenticating || service === CONSOLE_SERVICE
        ? UNAUTHENTICATED
        : await admitCaller(this.#visit(arrival), service);
    return {
      upstreams: [upstream],
      load: UNBOUNDED,
      target,
      prefix: stripped,
      caller,
      isService: true,
      platformCookies: COOKIES[service],
      name: service,
    };
  }

  async #planDeployment(arrival: Arrival, destination: Destination & { kind: 'deployment' }): Promise<RoutePlan> {
    const { req } = arrival;
    const { table, load, root } = this.#parts;
    const { by, reference, target } = destination;
    const found = this.#find(destination);
    if (!table.isLoaded && !found) {
      throw new UnavailableError('Deployments are not known yet', { code: 'routes_unknown', retryAfterSeconds: 1 });
    }
    const known = by === 'path' ? ((await this.#findNamedByCaller(arrival, reference)) ?? found) : found;
    // The deployment decides which pages may call; browsers ask without a key. A deployment that checks its callers
    // itself gets what is below its prefix unchanged.
    const mountPrefix = known?.has_custom_auth ? null : known?.mount_prefix;
    const needsNoKey = isKeyless(destination.path, mountPrefix);
    const open = needsNoKey || isPreflight(req);
    const isAtRoot = by !== 'path' && known !== undefined && known === root.route;
    const localKey =
      isAtRoot && !needsNoKey
        ? await root.keyFor(req, { mayHaveOwn: by === 'host' && known.has_custom_auth })
        : undefined;
    // Metrics of a deployment are not for its users.
    const admit = isMetrics(destination.path, known?.mount_prefix) ? admitWithKey : admitToDeployment;
    const isForMcp = isMcp(destination.path, known?.mount_prefix);
    const visit = { ...this.#visit(arrival), isForMcp, localKey };
    const caller = open ? admitWithoutKey(req, known) : await admit(visit, known);
    const route = await this.#awaitProcesses(requireRoute(known));
    return {
      upstreams: this.#upstreams.of(route),
      load,
      target,
      prefix: this.#prefixOf(req, destination),
      caller,
      isService: false,
      platformCookies: 'none',
      ...(isRunRequest(req.method, destination.path, known?.mount_prefix) && {
        runOwner: { workspaceId: route.workspace_id, organizationId: route.organization_id },
      }),
      name: 'The deployment',
    };
  }

  #find({ by, reference }: Destination & { kind: 'deployment' }): DeploymentRoute | undefined {
    const { hosts, root, table } = this.#parts;
    if (by === 'root') return root.route;
    return by === 'host' ? hosts.find(reference) : table.find(reference);
  }

  /** Returns the part of the address that was taken off a deployment's path. */
  #prefixOf(req: IncomingMessage, { by, reference }: Destination & { kind: 'deployment' }): string {
    if (by === 'host') return '';
    return this.#publicPathOf(req) + (by === 'path' ? `${DEPLOYMENTS_PREFIX}/${reference}` : '');
  }

  /** Returns the path of the public URL, which a proxy in front has taken off; none at other addresses of the gateway. */
  #publicPathOf(req: IncomingMessage): string {
    const { host, pathname } = this.#publicUrl;
    return this.#parts.addresses.publicAddressOf(req).host.toLowerCase() === host ? pathname.replace(/\/$/, '') : '';
  }

  #visit({ req, check }: Arrival): Visit {
    const { addresses } = this.#parts;
    const checkFromHere = limitToNetworks(check, addresses.clientOf(req));
    const address = addresses.publicAddressOf(req);
    return { req, address, check: checkFromHere, isForMcp: false, localKey: undefined };
  }

  /** Looks a route without processes up once more in new routes: it may have been deployed a moment ago. */
  async #awaitProcesses(route: DeploymentRoute): Promise<DeploymentRoute> {
    if (route.upstreams.length > 0) return route;
    const { newRoutes, table } = this.#parts;
    await Promise.race([newRoutes(), sleep(NEW_ROUTES_MS, undefined, { ref: false })]);
    return table.find(route.deployment_id) ?? route;
  }

  /**
   * Finds a deployment by its name, which means that of the caller's own workspace, also where another's slug is the
   * same word.
   */
  async #findNamedByCaller(arrival: Arrival, reference: string): Promise<DeploymentRoute | undefined> {
    if (isUuid(reference)) return undefined;
    const workspaceId = await findWorkspaceOfCaller(this.#visit(arrival));
    return workspaceId === undefined ? undefined : this.#parts.table.findNamed(decodeSegment(reference), workspaceId);
  }
}

const noRoute = () => new NotFoundError('Not Found', { code: 'route_not_found' });

/** Decodes a path segment; one that cannot be decoded names nothing. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
