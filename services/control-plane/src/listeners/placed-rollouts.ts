import type { Logger } from '@runyard/service-kit';
import type { Rollouts } from '../deployments/desired-state.ts';
import type { PrismaClient } from '../generated/client.ts';
import type { Signals } from '../signals.ts';

/** Tells those who run a deployment of changes: the platform itself, or the data plane of its listener and who builds for it. */
export class PlacedRollouts implements Rollouts {
  readonly #prisma: PrismaClient;
  readonly #here: Rollouts;
  readonly #builds: Pick<Rollouts, 'changed'>;
  readonly #signals: Signals;
  readonly #logger: Logger;

  constructor(options: {
    prisma: PrismaClient;
    here: Rollouts;
    /** Builds what data planes elsewhere run. */
    builds: Pick<Rollouts, 'changed'>;
    signals: Signals;
    logger: Logger;
  }) {
    this.#prisma = options.prisma;
    this.#here = options.here;
    this.#builds = options.builds;
    this.#signals = options.signals;
    this.#logger = options.logger;
  }

  changed(deploymentId: string): void {
    void this.#listenerOf(deploymentId).then((listenerId) => {
      if (listenerId === null) {
        this.#here.changed(deploymentId);
      } else {
        this.#signals.send(signalOf(listenerId));
        this.#builds.changed(deploymentId);
      }
    });
  }

  /** The same for what was changed by who builds. */
  built(deploymentId: string): void {
    void this.#listenerOf(deploymentId).then((listenerId) => {
      if (listenerId !== null) this.#signals.send(signalOf(listenerId));
    });
  }

  /** A data plane elsewhere takes its time, or is silent: nobody waits for it. */
  async removed(deploymentId: string, timeoutMs: number): Promise<void> {
    if ((await this.#listenerOf(deploymentId)) === null) await this.#here.removed(deploymentId, timeoutMs);
  }

  /** Null for one that is gone too. Where it cannot be found out, the reconciler does: it looks for itself. */
  async #listenerOf(id: string): Promise<string | null> {
    try {
      const row = await this.#prisma.deployment.findUnique({ where: { id }, select: { listenerId: true } });
      return row?.listenerId ?? null;
    } catch (error) {
      this.#logger.warn('who runs a changed deployment could not be found out', { deploymentId: id, error });
      return null;
    }
  }
}

/** What wakes those who wait for changes of what a listener is to run. */
export const signalOf = (listenerId: string) => `listener/${listenerId}`;
