import type { Logger } from '@runyard/service-kit';
import type { Signals } from '@runyard/signals';
import type { Rollouts } from '../deployments/desired-state.ts';
import type { PrismaClient } from '../generated/client.ts';

/**
 * Notifies those who run a deployment of changes: the platform itself, or the listener's data plane and the platform's
 * builds for it.
 */
export class RolloutDispatcher implements Rollouts {
  readonly #prisma: PrismaClient;
  readonly #local: Rollouts;
  readonly #builds: Pick<Rollouts, 'wake'>;
  readonly #signals: Signals;
  readonly #logger: Logger;

  constructor(options: {
    prisma: PrismaClient;
    local: Rollouts;
    /** Builds for remote data planes. */
    builds: Pick<Rollouts, 'wake'>;
    signals: Signals;
    logger: Logger;
  }) {
    this.#prisma = options.prisma;
    this.#local = options.local;
    this.#builds = options.builds;
    this.#signals = options.signals;
    this.#logger = options.logger;
  }

  wake(deploymentId: string): void {
    void this.#listenerOf(deploymentId).then((listenerId) => {
      if (listenerId === null) {
        this.#local.wake(deploymentId);
      } else {
        this.#signals.send(signalOf(listenerId));
        this.#builds.wake(deploymentId);
      }
    });
  }

  /** Notifies all who run these deployments; a data plane once. */
  wakeAll(deployments: readonly { id: string; listenerId: string | null }[]): void {
    for (const { id, listenerId } of deployments) if (listenerId === null) this.#local.wake(id);
    for (const id of new Set(deployments.flatMap(({ listenerId }) => listenerId ?? []))) {
      this.#signals.send(signalOf(id));
    }
  }

  /** Notifies the data plane of a change that a build has made. */
  notifyBuilt(deploymentId: string): void {
    void this.#listenerOf(deploymentId).then((listenerId) => {
      if (listenerId !== null) this.#signals.send(signalOf(listenerId));
    });
  }

  /** Does not wait for remote deployments, because their data plane may be slow or unresponsive. */
  async waitUntilRemoved(deploymentId: string, timeoutMs: number): Promise<void> {
    if ((await this.#listenerOf(deploymentId)) === null) await this.#local.waitUntilRemoved(deploymentId, timeoutMs);
  }

  /** Returns null also for a deleted deployment, and after an error: then the reconciler's sweep finds the change. */
  async #listenerOf(id: string): Promise<string | null> {
    try {
      const row = await this.#prisma.deployment.findUnique({ where: { id }, select: { listenerId: true } });
      return row?.listenerId ?? null;
    } catch (error) {
      this.#logger.warn('listener lookup failed', { deploymentId: id, error });
      return null;
    }
  }
}

/** Returns the name of the signal that wakes data planes which wait for changes of a listener's desired state. */
export const signalOf = (listenerId: string) => `listener/${listenerId}`;
