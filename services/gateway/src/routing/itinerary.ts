import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEPLOYMENTS_PREFIX, type DeploymentRoute, isUuid, type PublicService } from '@runyard/contracts';
import { isPreflight, NotFoundError, UnavailableError } from '@runyard/service-kit';
import {
  type Admission,
  admitToDeployment,
  admitToService,
  deploymentOrNotFound,
  NOBODY,
  workspaceOf,
} from '../authentication/admission.ts';
import type { GuessGuard } from '../authentication/guess-guard.ts';
import { UpstreamLoad } from '../limits/upstream-load.ts';
import { UpstreamChoice } from '../proxy/upstream-choice.ts';
import type { DeploymentHosts } from './deployment-hosts.ts';
import type { DeploymentTable } from './deployment-table.ts';
import type { Destination } from './resolve-path.ts';

/** Where a request goes, and as whom. */
export interface Itinerary {
  upstreams: readonly string[];
  /** Counts what they have to answer. */
  load: UpstreamLoad;
  /** Path and query at the upstream. */
  target: string;
  /** What was taken off the path. */
  prefix: string;
  admission: Admission;
  /** For messages: who did not answer. */
  name: string;
}

export interface ItineraryParts {
  table: DeploymentTable;
  hosts: DeploymentHosts;
  guard: GuessGuard;
  /** Of deployments. */
  load: UpstreamLoad;
  serviceUrls: Record<PublicService, string>;
  /** A deployment was not reached where it is said to be: perhaps it is somewhere else by now. */
  onMissed(): void;
  /** Resolves when the table has routes that were asked for after this. */
  newRoutes(): Promise<void>;
}

/** What has just been deployed is known here within so long; nobody waits longer for a deployment that does not run. */
const NEW_ROUTES_MS = 1_000;

/** Services of the platform let those wait unanswered who wait for a change: how many there are is no sign of load. */
const UNBOUNDED = new UpstreamLoad({ maxUnanswered: Number.POSITIVE_INFINITY });

/** Who are you, may you, where to: in this order, so that a stranger learns nothing about what exists. */
export class ItineraryPlanner {
  readonly #parts: ItineraryParts;
  readonly #upstreams: UpstreamChoice;

  constructor(parts: ItineraryParts) {
    this.#parts = parts;
    this.#upstreams = new UpstreamChoice(parts.load);
  }

  async plan(req: IncomingMessage, destination: Destination): Promise<Itinerary> {
    if (destination.kind === 'none') throw new NotFoundError('Not Found');
    return destination.kind === 'service' ? this.#toService(req, destination) : this.#toDeployment(req, destination);
  }

  /** Others are to be tried first for a while. */
  readonly avoid = (upstream: string): void => {
    this.#upstreams.avoid(upstream);
    this.#parts.onMissed();
  };

  async #toService(req: IncomingMessage, destination: Destination & { kind: 'service' }): Promise<Itinerary> {
    const { guard, serviceUrls } = this.#parts;
    const { service, target, stripped, carriesProof } = destination;
    const admission = carriesProof ? NOBODY : await admitToService(req, service, guard.checkerFor(req));
    const upstreams = [serviceUrls[service]];
    return { upstreams, load: UNBOUNDED, target, prefix: stripped, admission, name: service };
  }

  async #toDeployment(req: IncomingMessage, destination: Destination & { kind: 'deployment' }): Promise<Itinerary> {
    const { table, guard, load } = this.#parts;
    const { by, reference, target } = destination;
    const found = by === 'host' ? this.#parts.hosts.find(reference) : table.find(reference);
    if (!table.isLoaded && !found) {
      throw new UnavailableError('Deployments are not known yet', { retryAfterSeconds: 1 });
    }
    const known = by === 'host' ? found : ((await this.#namedByCaller(req, reference)) ?? found);
    // Which pages may call is the deployment's to say; browsers ask without a key.
    const open = destination.isPublic || isPreflight(req);
    const admission: Admission = open
      ? { consumes: 'both' }
      : await admitToDeployment(req, known, guard.checkerFor(req));
    const route = await this.#running(deploymentOrNotFound(known));
    return {
      upstreams: this.#upstreams.of(route),
      load,
      target,
      prefix: by === 'host' ? '' : `${DEPLOYMENTS_PREFIX}/${reference}`,
      admission,
      name: 'The deployment',
    };
  }

  /** A route without processes may be one that was deployed a moment ago: it is looked up once more in new routes. */
  async #running(route: DeploymentRoute): Promise<DeploymentRoute> {
    if (route.upstreams.length > 0) return route;
    const { newRoutes, table } = this.#parts;
    await Promise.race([newRoutes(), sleep(NEW_ROUTES_MS, undefined, { ref: false })]);
    return table.find(route.deployment_id) ?? route;
  }

  /** A name means the deployment of the caller's own workspace, also where another's slug is the same word. */
  async #namedByCaller(req: IncomingMessage, reference: string): Promise<DeploymentRoute | undefined> {
    if (isUuid(reference)) return undefined;
    const workspaceId = await workspaceOf(req, this.#parts.guard.checkerFor(req));
    return workspaceId === undefined ? undefined : this.#parts.table.findNamed(decoded(reference), workspaceId);
  }
}

/** A path segment as its author meant it; one that cannot be decoded names nothing. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
