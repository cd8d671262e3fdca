import { setTimeout as pause } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { LABELS } from '../container/run-arguments.ts';
import type { Role } from '../scale-bounds.ts';
import type { ClusterApi, Kind } from './cluster-api.ts';
import { selectorOf } from './labels.ts';

/** Everything but pods, those first that would make others again. */
const KINDS: readonly Kind[] = ['HorizontalPodAutoscaler', 'Deployment', 'PodDisruptionBudget', 'Service', 'Secret'];
const FIRST_LOOK_MS = 50;
const LONGEST_LOOK_MS = 2_000;
/** Beyond their grace pods may take this long to be gone: their node has to say so. */
const GONE_MS = 60_000;
/** The longest grace there is, with what is added to it. */
const DRAINED_MS = 3_700_000;

/** Removes what was made of revisions. Every step may be repeated, and goes on when this process does not. */
export class Removal {
  readonly #api: ClusterApi;
  /** Under way, by revision. */
  readonly #ending = new Map<string, Promise<void>>();

  constructor(api: ClusterApi) {
    this.#api = api;
  }

  /** A revision that is being removed is not to be started before it is gone. */
  async ended(revisionId: string): Promise<void> {
    await this.#ending.get(revisionId)?.catch(() => undefined);
  }

  autoscalersOf(revisionId: string, signal: AbortSignal): Promise<void> {
    return this.#api.remove('HorizontalPodAutoscaler', selectorOf({ [LABELS.revision]: revisionId }), signal);
  }

  /** Workers first, which finish or hand back what they have: clients of their runs stay connected to agent-api until then. */
  drain(revisionId: string): Promise<void> {
    return this.#once(revisionId, async () => {
      const signal = AbortSignal.timeout(DRAINED_MS);
      const labels = { [LABELS.revision]: revisionId };
      await this.#api.remove('HorizontalPodAutoscaler', selectorOf(labels), signal);
      for (const role of ['run-worker', 'agent-api'] satisfies Role[]) {
        const ofRole = selectorOf({ ...labels, [LABELS.part]: role });
        await this.#api.remove('Deployment', ofRole, signal);
        await this.#untilGone(ofRole, signal);
      }
      await this.#removeAll(labels, signal);
    });
  }

  /** All at once; pods get `graceMs`. */
  remove(revisionId: string, graceMs: number): Promise<void> {
    return this.#once(revisionId, () => this.#removeWithin({ [LABELS.revision]: revisionId }, graceMs));
  }

  /** Of all revisions of a deployment. */
  removeDeployment(deploymentId: string, graceMs: number): Promise<void> {
    return this.#removeWithin({ [LABELS.deployment]: deploymentId }, graceMs);
  }

  /** Ids of the revisions of which something is there. */
  async revisionsOf(deploymentId: string, signal: AbortSignal): Promise<string[]> {
    const selector = selectorOf({ [LABELS.deployment]: deploymentId });
    const found = await Promise.all(
      (['Deployment', 'Secret'] as const).map((kind) => this.#api.list(kind, selector, signal)),
    );
    const ids = found.flat().flatMap(({ metadata }) => metadata?.labels?.[LABELS.revision] ?? []);
    return [...new Set(ids)];
  }

  async #removeWithin(labels: Record<string, string>, graceMs: number): Promise<void> {
    const signal = AbortSignal.timeout(graceMs + GONE_MS);
    await this.#removeAll(labels, signal);
    // With none at all a pod would be forgotten before its node has ended it.
    const graceSeconds = Math.max(Math.ceil(graceMs / 1000), 1);
    // Until what makes pods has noticed that it is to be gone, it may make another one.
    await this.#untilGone(selectorOf(labels), signal, () =>
      this.#api.remove('Pod', selectorOf(labels), signal, graceSeconds),
    );
  }

  async #removeAll(labels: Record<string, string>, signal: AbortSignal): Promise<void> {
    for (const kind of KINDS) await this.#api.remove(kind, selectorOf(labels), signal);
  }

  async #untilGone(selector: string, signal: AbortSignal, again?: () => Promise<void>): Promise<void> {
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
