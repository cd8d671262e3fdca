import { setTimeout as pause } from 'node:timers/promises';
import type { Informer, ListWatch, V1Pod, V1PodList } from '@kubernetes/client-node';
import type { Logger } from '@runyard/service-kit';
import { LABELS } from '../labels.ts';
import type { ClusterApi } from './cluster-api.ts';
import { MANAGED_BY, selectorOf } from './labels.ts';

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;

type PodInformer = Informer<V1Pod> & Pick<ListWatch<V1Pod>, 'list'>;

/** Watches the pods of all deployments in the namespace, with one watch for all revisions. */
export class PodWatch {
  readonly #logger: Logger;
  readonly #informer: PodInformer;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #stopping = new AbortController();
  #retryMs = FIRST_RETRY_MS;
  #started: Promise<void> | undefined;
  #listed: () => void = () => undefined;

  constructor(api: ClusterApi, logger: Logger) {
    this.#logger = logger;
    const labelSelector = selectorOf(MANAGED_BY);
    const list = async () => {
      const call = { method: 'GET', path: api.pathOf('Pod'), query: { labelSelector } } as const;
      const pods = await api.callOnce<V1PodList>(call, this.#stopping.signal);
      this.#retryMs = FIRST_RETRY_MS;
      // The informer stores the listed pods before anybody who waits continues.
      setImmediate(() => this.#listed());
      return pods;
    };
    this.#informer = api.client.makeInformer(api.kubeConfig, api.pathOf('Pod'), list, labelSelector) as PodInformer;
    this.#informer.on('change', (pod: V1Pod) => this.#notify(pod));
    this.#informer.on('error', (error: unknown) => void this.#restart(error));
  }

  /** Resolves when the existing pods are known. */
  start(): Promise<void> {
    this.#started ??= new Promise((resolve) => {
      this.#listed = resolve;
      void this.#informer.start();
    });
    return this.#started;
  }

  stop(): void {
    this.#stopping.abort(new Error('stopped'));
    void this.#informer.stop();
  }

  podsOf(revisionId: string): V1Pod[] {
    return this.#informer.list().filter((pod) => pod.metadata?.labels?.[LABELS.revision] === revisionId);
  }

  /** Calls the listener whenever a pod of the revision changed. The returned function ends that. */
  onChange(revisionId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(revisionId) ?? new Set();
    this.#listeners.set(revisionId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(revisionId);
    };
  }

  #notify(pod: V1Pod): void {
    const revisionId = pod.metadata?.labels?.[LABELS.revision];
    for (const listener of this.#listeners.get(revisionId ?? '') ?? []) listener();
  }

  /** Restarts the watch. The last known pods are kept meanwhile. */
  async #restart(error: unknown): Promise<void> {
    const inMs = this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
    if (this.#stopping.signal.aborted) return;
    this.#logger.warn('pod watch failed, will retry', { error, inMs });
    const isOver = await pause(inMs, false, { signal: this.#stopping.signal }).catch(() => true);
    if (!isOver) await this.#informer.start();
  }
}
