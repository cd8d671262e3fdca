import { setTimeout as pause } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import type { ReplicaRole } from '@runyard/deployments';
import { LABELS } from '../labels.ts';
import type { ClusterApi, Kind } from './cluster-api.ts';
import { selectorOf } from './labels.ts';

/** All kinds but pods, first those that would create others again. */
const KINDS: readonly Kind[] = ['HorizontalPodAutoscaler', 'Deployment', 'PodDisruptionBudget', 'Service', 'Secret'];
const FIRST_LOOK_MS = 50;
const LONGEST_LOOK_MS = 2_000;
/** Milliseconds beyond their grace until pods are deleted: their node has to confirm it. */
const DELETION_MS = 60_000;
/** The longest grace, plus the time that drivers add to it. */
const DRAIN_MS = 3_700_000;

/** Removes the objects of revisions. Every step is idempotent, and continues in the cluster without this process. */
export class Removal {
  readonly #api: ClusterApi;
  /** Removals in progress, by revision. */
  readonly #ending = new Map<string, Promise<void>>();

  constructor(api: ClusterApi) {
    this.#api = api;
  }

  /** Resolves when a removal in progress has ended. The revision must not be started before. */
  async waitForRemoval(revisionId: string): Promise<void> {
    await this.#ending.get(revisionId)?.catch(() => undefined);
  }

  removeAutoscalers(revisionId: string, signal: AbortSignal): Promise<void> {
    return this.#api.remove('HorizontalPodAutoscaler', selectorOf({ [LABELS.revision]: revisionId }), signal);
  }

  /**
   * Removes the workers first, which finish or hand back their runs: clients of these stay connected to agent-api until
   * then.
   */
  drain(revisionId: string): Promise<void> {
    return this.#once(revisionId, async () => {
      const signal = AbortSignal.timeout(DRAIN_MS);
      const labels = { [LABELS.revision]: revisionId };
      await this.#api.remove('HorizontalPodAutoscaler', selectorOf(labels), signal);
      for (const role of ['run-worker', 'agent-api'] satisfies ReplicaRole[]) {
        const ofRole = selectorOf({ ...labels, [LABELS.part]: role });
        await this.#api.remove('Deployment', ofRole, signal);
        await this.#waitUntilDeleted(ofRole, signal);
      }
      await this.#removeAll(labels, signal);
    });
  }

  /** Removes everything at once; pods get `graceMs`. */
  remove(revisionId: string, graceMs: number): Promise<void> {
    return this.#once(revisionId, () => this.#removeWithin({ [LABELS.revision]: revisionId }, graceMs));
  }

  /** Removes all revisions of a deployment. */
  removeDeployment(deploymentId: string, graceMs: number): Promise<void> {
    return this.#removeWithin({ [LABELS.deployment]: deploymentId }, graceMs);
  }

  /** Returns the ids of revisions that have objects in the cluster. */
  async revisionsOf(deploymentId: string, signal: AbortSignal): Promise<string[]> {
    const selector = selectorOf({ [LABELS.deployment]: deploymentId });
    const found = await Promise.all(
      (['Deployment', 'Secret'] as const).map((kind) => this.#api.list(kind, selector, signal)),
    );
    const ids = found.flat().flatMap(({ metadata }) => metadata?.labels?.[LABELS.revision] ?? []);
    return [...new Set(ids)];
  }

  async #removeWithin(labels: Record<string, string>, graceMs: number): Promise<void> {
    const signal = AbortSignal.timeout(graceMs + DELETION_MS);
    await this.#removeAll(labels, signal);
    // With a grace of zero, the pod would be deleted from the API before its node has ended it.
    const graceSeconds = Math.max(Math.ceil(graceMs / 1000), 1);
    // A controller may create another pod until it notices its own deletion.
    await this.#waitUntilDeleted(selectorOf(labels), signal, () =>
      this.#api.remove('Pod', selectorOf(labels), signal, graceSeconds),
    );
  }

  async #removeAll(labels: Record<string, string>, signal: AbortSignal): Promise<void> {
    for (const kind of KINDS) await this.#api.remove(kind, selectorOf(labels), signal);
  }

  async #waitUntilDeleted(selector: string, signal: AbortSignal, again?: () => Promise<void>): Promise<void> {
    for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(lookMs * 1.5, LONGEST_LOOK_MS)) {
      const pods = await this.#api.list<V1Pod>('Pod', selector, signal);
      if (pods.length === 0) return;
      await again?.();
      await pause(lookMs, undefined, { signal });
    }
  }

  #once(revisionId: string, work: () => Promise<void>): Promise<void> {
    const ending = (this.#ending.get(revisionId) ?? Promise.resolve())
      .catch(() => undefined)
      .then(work)
      .finally(() => {
        if (this.#ending.get(revisionId) === ending) this.#ending.delete(revisionId);
      });
    this.#ending.set(revisionId, ending);
    return ending;
  }
}
