import type { Logger } from '@runyard/service-kit';
import type { Signals } from '@runyard/signals';
import type { Deployment, PrismaClient } from '../generated/client.ts';
import type { Rollouts } from './desired-state.ts';

/** Works on deployments, and looks at those that have changed. */
export interface Woken {
  wake(deploymentId: string): void;
  /** Looks at all of them: changes may have gone unnoticed. */
  wakeAll(): void;
}

type Notified = Pick<Deployment, 'id' | 'listenerId'>;

/** Wakes the platform's own data planes, where it has some of their own. */
export const PLATFORM_SIGNAL = 'platform';
const PLATFORM = 'rollout/';
const BUILDS = 'build/';
const REMOVED = 'removed/';

/**
 * Notifies those who run a deployment of changes, in whichever process of the platform they are: the platform's own
 * data planes, or the listener's data plane, which waits for its desired state, and the builds for it. Who misses a
 * signal finds the change with its next sweep or its next request.
 */
export class RolloutSignals implements Rollouts {
  readonly #prisma: PrismaClient;
  readonly #signals: Signals;
  readonly #logger: Logger;
  readonly #isApart: boolean;

  /** @param options.isApart the platform's own deployments are run by data planes apart from this service */
  constructor(options: { prisma: PrismaClient; signals: Signals; isApart: boolean; logger: Logger }) {
    this.#isApart = options.isApart;
    this.#prisma = options.prisma;
    this.#signals = options.signals;
    this.#logger = options.logger;
  }

  wake(deploymentId: string): void {
    void this.#find(deploymentId).then((row) => {
      if (!row) return;
      this.wakeAll([row]);
      if (this.#isRunElsewhere(row)) this.notifyToBuild(deploymentId);
    });
  }

  /** Notifies all who run these deployments; a data plane once. */
  wakeAll(deployments: readonly Notified[]): void {
    for (const name of new Set(deployments.map((row) => this.#nameFor(row)))) this.#signals.send(name);
  }

  /** Notifies those who build for data planes: one of them may just be releasing the deployment that is to be built. */
  notifyToBuild(deploymentId: string): void {
    this.#signals.send(BUILDS + deploymentId);
  }

  /** Notifies the data plane of a change that a build has made. */
  notifyBuilt(deploymentId: string): void {
    void this.#find(deploymentId).then((row) => row && this.wakeAll([row]));
  }

  /** Notifies callers who wait for the end of a deployment of the platform itself. */
  notifyRemoved(deploymentId: string): void {
    this.#signals.send(REMOVED + deploymentId);
  }

  /** Wakes those who run the deployments of the platform itself. */
  wakeDataPlane(woken: Woken): void {
    this.#follow(PLATFORM, woken, ({ listenerId }) => listenerId === null);
  }

  /** Wakes those who build for data planes apart from this service. */
  wakeBuilds(woken: Woken): void {
    this.#follow(BUILDS, woken, (row) => this.#isRunElsewhere(row));
  }

  /** Does not wait for remote deployments, because their data plane may be slow or unresponsive. */
  async waitUntilRemoved(deploymentId: string, timeoutMs: number): Promise<void> {
    const listening = this.#signals.listen(REMOVED + deploymentId);
    try {
      const row = await this.#find(deploymentId);
      if (row?.listenerId === null) await listening.next(timeoutMs);
    } finally {
      listening.stop();
    }
  }

  #isRunElsewhere({ listenerId }: Notified): boolean {
    return this.#isApart || listenerId !== null;
  }

  #nameFor({ id, listenerId }: Notified): string {
    if (listenerId !== null) return signalOf(listenerId);
    return this.#isApart ? PLATFORM_SIGNAL : PLATFORM + id;
  }

  #follow(prefix: string, woken: Woken, isTheirs: (row: Notified) => boolean): void {
    // Other platforms may use the same Redis, and nobody may take up a deployment that is not in this database.
    const wake = async (id: string) => {
      const row = await this.#find(id);
      if (row && isTheirs(row)) woken.wake(id);
    };
    this.#signals.follow(prefix, { onSignal: (id) => void wake(id), onLoss: () => woken.wakeAll() });
  }

  /** Returns null for a deployment that does not exist, and after an error: then a sweep finds the change. */
  async #find(id: string): Promise<Notified | null> {
    try {
      return await this.#prisma.deployment.findUnique({ where: { id }, select: { id: true, listenerId: true } });
    } catch (error) {
      this.#logger.warn('listener lookup failed', { deploymentId: id, error });
      return null;
    }
  }
}

/** Returns the name of the signal that wakes data planes which wait for changes of a listener's desired state. */
export const signalOf = (listenerId: string) => `listener/${listenerId}`;
