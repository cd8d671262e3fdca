import { setTimeout as pause } from 'node:timers/promises';
import { withDeadline } from '@runyard/deadline';
import { type Counts, firstCount, type ReplicaRole, scaleBounds } from '@runyard/deployments';
import type { RevisionLog } from '@runyard/revision-logs';
import type { Logger } from '@runyard/service-kit';
import type { RevisionSpec, RunningReplica, RunningRevision } from '../driver.ts';
import type { Launcher, Replica, SupervisionOptions } from './launcher.ts';
import { type ServiceAddress, SupervisedService, urlOf } from './supervised-service.ts';

/** Milliseconds beyond its grace in which a process accepts the last requests and closes its connections. */
const CLOSING_MS = 10_000;
/** Milliseconds that a replaced agent-api still answers clients that do not know the new one yet. */
const FOLLOW_MS = 2_000;
/** Milliseconds within which an additional process has to be healthy. */
const JOIN_TIMEOUT_MS = 120_000;

/** One service with its base URL while it is healthy. A server and the worker in its process have one `service`. */
interface SupervisedReplica extends Replica {
  number: number;
  service: SupervisedService;
  /** True for a worker in the process of a server. */
  isGuest: boolean;
  url: string | null;
  /** True when it drains because the role has one too many. */
  isLeaving: boolean;
}

export class SupervisedRevision implements RunningRevision {
  readonly #spec: RevisionSpec;
  readonly #launcher: Launcher;
  readonly #options: SupervisionOptions;
  readonly #log: RevisionLog;
  readonly #logger: Logger;
  readonly #onUpstreams: (urls: string[]) => void;
  readonly #stopping = new AbortController();
  readonly #replicas = new Set<SupervisedReplica>();
  /** Starts and ends of single replicas in progress. */
  readonly #scaling = new Set<Promise<void>>();
  #isDraining = false;

  constructor(
    spec: RevisionSpec,
    before: Counts,
    replicas: { launcher: Launcher; options: SupervisionOptions; log: RevisionLog; onUpstreams(urls: string[]): void },
  ) {
    const { launcher, options, log, onUpstreams } = replicas;
    this.#spec = spec;
    this.#launcher = launcher;
    this.#options = options;
    this.#log = log;
    this.#onUpstreams = onUpstreams;
    this.#logger = options.logger.child({ deploymentId: spec.deploymentId, revisionId: spec.revisionId });
    if (launcher.sharesProcess) this.#addTogether();
    for (const role of ['agent-api', 'run-worker'] as const) {
      const missing = firstCount(spec.resources, role, before) - this.countOf(role);
      for (let count = missing; count > 0; count -= 1) this.#add(role);
    }
  }

  get deploymentId(): string {
    return this.#spec.deploymentId;
  }

  get revisionId(): string {
    return this.#spec.revisionId;
  }

  get resources(): RevisionSpec['resources'] {
    return this.#spec.resources;
  }

  get hasCustomAuth(): boolean {
    return this.#launcher.hasCustomAuth;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  get upstreams(): string[] {
    return this.#of('agent-api').flatMap(({ url }) => url ?? []);
  }

  replicas(): RunningReplica[] {
    return [...this.#replicas].map(({ role, name, url, worker, service, isGuest }) => ({
      role,
      name,
      url,
      // A process is measured and counted once. Most of what one with both uses, its runs use.
      pid: worker ? null : (service.pid ?? null),
      restarts: isGuest ? 0 : service.restarts,
    }));
  }

  countOf(role: ReplicaRole): number {
    return this.#of(role).length;
  }

  scale(role: ReplicaRole, count: number): void {
    if (this.#isDraining || this.#stopping.signal.aborted) return;
    const replicas = this.#of(role).sort((one, other) => one.number - other.number);
    for (const replica of replicas.slice(count)) this.#track(this.#retire(replica));
    for (let missing = count - replicas.length; missing > 0; missing -= 1) this.#track(this.#startOne(this.#add(role)));
  }

  /** Starts the replicas. On a new database agent-api starts first, as it creates the tables for the workers. */
  async start(signal: AbortSignal): Promise<void> {
    const started = (role: ReplicaRole) =>
      Promise.all(this.#processes(role).map(({ service }) => service.start(signal)));
    const agentApis = started('agent-api');
    if (this.#spec.isFirst) await agentApis;
    await Promise.all([agentApis, started('run-worker')]);
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    // Clients of running runs stay connected to the old agent-api until its workers have finished.
    const servers = this.#processes('agent-api');
    const together = servers.filter(({ worker }) => worker !== undefined);
    const isFollowed = this.#waitForRouteChange();
    await Promise.all([this.#stopAll(this.#processes('run-worker')), isFollowed.then(() => this.#stopAll(together))]);
    await this.#stopAll(servers);
    await this.#close();
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await this.#stopAll([...this.#replicas], graceMs);
    await this.#close();
  }

  get #drainMs(): number {
    return this.#launcher.graceMs + CLOSING_MS;
  }

  /** Returns the replicas that do not leave. */
  #of(role: ReplicaRole): SupervisedReplica[] {
    return [...this.#replicas].filter((replica) => replica.role === role && !replica.isLeaving);
  }

  /** Returns a replica for each process that is of the role; one that is of both counts as agent-api. */
  #processes(role: ReplicaRole): SupervisedReplica[] {
    return [...this.#replicas].filter((replica) => replica.role === role && !replica.isGuest);
  }

  #add(role: ReplicaRole): SupervisedReplica {
    const replica = this.#newReplica(role);
    return this.#keep(replica, this.#superviseService(replica));
  }

  /** Adds a server and a worker in one process. */
  #addTogether(): void {
    const worker = this.#newReplica('run-worker');
    const server = { ...this.#newReplica('agent-api'), worker };
    const service = this.#superviseService(server);
    this.#keep(server, service);
    this.#keep(worker, service).isGuest = true;
  }

  #newReplica(role: ReplicaRole): Replica & { number: number } {
    const taken = new Set([...this.#replicas].filter((replica) => replica.role === role).map(({ number }) => number));
    let number = 1;
    while (taken.has(number)) number += 1;
    return { role, number, name: nameReplica(role, number, scaleBounds(this.#spec.resources, role).max) };
  }

  #keep(replica: Replica & { number: number }, service: SupervisedService): SupervisedReplica {
    const kept = { ...replica, service, isGuest: false, isLeaving: false, url: null };
    this.#replicas.add(kept);
    return kept;
  }

  #superviseService(replica: Replica): SupervisedService {
    const { findAddress, launch } = this.#launcher;
    const sources = replica.worker && { 'run-worker': replica.worker.name };
    const service: SupervisedService = new SupervisedService({
      name: replica.name,
      logger: this.#logger,
      timings: this.#options.timings,
      onAddress: (address) => this.#setAddress(service, address),
      findAddress: () => findAddress(replica),
      launch: (address) =>
        launch(replica, address, (line, stream) =>
          this.#log.write(line, { source: replica.name, sources, level: stream === 'stderr' ? 'ERROR' : 'INFO' }),
        ),
    });
    return service;
  }

  #setAddress(service: SupervisedService, address: ServiceAddress | null): void {
    for (const replica of this.#replicas) {
      if (replica.service !== service) continue;
      const port = replica.isGuest ? address?.workerPort : address?.port;
      replica.url = address && port !== undefined ? urlOf({ ...address, port }) : null;
      if (replica.role === 'agent-api') this.#onUpstreams(this.upstreams);
    }
  }

  /** Starts an additional process. When it does not become healthy, the number of processes stays as it was. */
  async #startOne(replica: SupervisedReplica): Promise<void> {
    try {
      await withDeadline(this.#stopping.signal, JOIN_TIMEOUT_MS, (signal) => replica.service.start(signal));
    } catch (error) {
      this.#replicas.delete(replica);
      if (this.#stopping.signal.aborted || replica.isLeaving) return;
      this.#logger.warn('additional process failed to start', { process: replica.name, error });
    }
  }

  async #retire(replica: SupervisedReplica): Promise<void> {
    replica.isLeaving = true;
    if (replica.role === 'agent-api') {
      this.#onUpstreams(this.upstreams);
      await this.#waitForRouteChange();
    }
    await replica.service.stop(this.#drainMs);
    this.#replicas.delete(replica);
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#logger.error('scaling failed', { error }))
      .finally(() => this.#scaling.delete(tracked));
    this.#scaling.add(tracked);
  }

  async #stopAll(replicas: SupervisedReplica[], graceMs = this.#drainMs): Promise<void> {
    const services = new Set(replicas.map(({ service }) => service));
    await Promise.all([...services].map((service) => service.stop(graceMs)));
  }

  /** Waits until all clients know of a changed route, unless the revision has to stop at once. */
  async #waitForRouteChange(): Promise<void> {
    await pause(FOLLOW_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  async #close(): Promise<void> {
    await Promise.all(this.#scaling);
    this.#options.running.delete(this);
    await this.#log.close();
  }
}

function nameReplica(role: ReplicaRole, number: number, max: number): string {
  return max === 1 ? role : `${role}-${number}`;
}
