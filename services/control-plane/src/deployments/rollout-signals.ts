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

/** Wakes the platform's own data planes. */
export const PLATFORM_SIGNAL = 'platform';
const BUILDS = 'build/';
const REMOVED = 'removed/';

/**
 * Notifies those who run a deployment of changes, in whichever process of the platform they are: the platform's own
 * data planes or those of a listener, which wait for their desired state, and the builds for both. Who misses a signal
 * finds the change with its next sweep or its next request.
 */
export class RolloutSignals implements Rollouts {
  readonly #prisma: PrismaClient;
  readonly #signals: Signals;
  readonly #logger: Logger;

  constructor(options: { prisma: PrismaClient; signals: Signals; logger: Logger }) {
    this.#prisma = options.prisma;
    this.#signals = options.signals;
    this.#logger = options.logger;
  }

  wake(deploymentId: string): void {
    void this.#find(deploymentId).then((row) => {
      if (!row) return;
      this.wakeAll([row]);
      this.notifyToBuild(deploymentId);
    });
  }

  /** Notifies all who run these deployments; a data plane once. */
  wakeAll(deployments: readonly Notified[]): void {
    for (const name of new Set(deployments.map(nameFor))) this.#signals.send(name);
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

  /** Wakes those who build for data planes. */
  wakeBuilds(woken: Woken): void {
    // Other platforms may use the same Redis, and nobody may take up a deployment that is not in this database.
    const wake = async (id: string) => {
      if (await this.#find(id)) woken.wake(id);
    };
    this.#signals.follow(BUILDS, { onSignal: (id) => void wake(id), onLoss: () => woken.wakeAll() });
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

function nameFor({ listenerId }: Notified): string {
  return listenerId === null ? PLATFORM_SIGNAL : signalOf(listenerId);
}
