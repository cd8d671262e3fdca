import type { V1Pod } from '@kubernetes/client-node';
import { type Counts, firstCount, objectName, type ReplicaRole, scaleBounds } from '@runyard/deployments';
import type { Logger } from '@runyard/service-kit';
import type { RevisionSpec } from '../driver.ts';
import type { ClusterApi } from './cluster-api.ts';
import type { RevisionPods } from './revision-pods.ts';

export interface RevisionScaleOptions {
  spec: RevisionSpec;
  api: ClusterApi;
  pods: RevisionPods;
  /** Aborts at the revision's end: after it nothing is scaled. */
  signal: AbortSignal;
  logger: Logger;
}

/** Sets the number of pods of each role, where this process decides it. */
export class RevisionScale {
  readonly #options: RevisionScaleOptions;
  readonly #counts = new Map<ReplicaRole, number>();
  #changing: Promise<void> = Promise.resolve();

  constructor(options: RevisionScaleOptions) {
    this.#options = options;
  }

  countOf(role: ReplicaRole): number {
    return this.#counts.get(role) ?? scaleBounds(this.#options.spec.resources, role).min;
  }

  /** Begins with the last count, within the bounds. */
  setInitial(role: ReplicaRole, before: number | undefined): void {
    const counts: Counts = before === undefined ? {} : { [role]: before };
    this.#counts.set(role, firstCount(this.#options.spec.resources, role, counts));
  }

  change(role: ReplicaRole, count: number): void {
    const { pods, signal, logger } = this.#options;
    const leaving = pods.findRemaining(role).slice(count);
    pods.markLeaving(leaving);
    this.#counts.set(role, count);
    this.#changing = this.#changing
      .then(() => this.#apply(role, count, leaving))
      .catch((error: unknown) => {
        if (!signal.aborted) logger.error('scaling failed', { error });
      });
  }

  /** Resolves when no change is in progress. */
  waitForChanges(): Promise<void> {
    return this.#changing;
  }

  /** The cluster chooses the pods to remove, those with the lowest deletion cost first. */
  async #apply(role: ReplicaRole, replicas: number, leaving: V1Pod[]): Promise<void> {
    const { api, spec, signal } = this.#options;
    for (const pod of leaving) {
      const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '-1000' };
      await api.merge('Pod', pod.metadata!.name!, { metadata: { annotations } }, signal).catch(ignoreNotFound);
    }
    await api.merge('Deployment', objectName(spec.revisionId, role), { spec: { replicas } }, signal);
  }
}

function ignoreNotFound(error: unknown): void {
  if ((error as { status?: number }).status !== 404) throw error;
}
