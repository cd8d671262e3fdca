import { createHash, randomBytes } from 'node:crypto';
import type { ObjectStore, StoredObject } from './object-store.ts';

const COST = 'controller.kubernetes.io/pod-deletion-cost';

/** Does the work of a cluster's controllers for Deployments and their autoscalers, after every change. */
export class Controllers {
  readonly #store: ObjectStore;
  readonly #removePod: (name: string) => void;
  /** The reason why no pod may be created, as a quota gives it. */
  forbidsPods: string | undefined;
  /** The external metric that autoscalers read; undefined: there is none. */
  externalMetric: number | undefined;
  #isAsked = false;

  constructor(store: ObjectStore, removePod: (name: string) => void) {
    this.#store = store;
    this.#removePod = removePod;
    store.onEvent(() => this.ask());
  }

  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    setImmediate(() => {
      this.#isAsked = false;
      for (const scaler of this.#store.list('horizontalpodautoscalers')) this.#scale(scaler);
      for (const deployment of this.#store.list('deployments')) this.#work(deployment);
      this.#collect();
    });
  }

  #scale({ spec }: StoredObject): void {
    const target = this.#store.find('deployments', spec.scaleTargetRef.name);
    if (!target) return;
    const external = spec.metrics.find(({ type }: { type: string }) => type === 'External')?.external;
    const isKnown = external !== undefined && this.externalMetric !== undefined;
    const wanted = isKnown
      ? Math.ceil(this.externalMetric! / Number(external.target.averageValue))
      : target.spec.replicas;
    const replicas = Math.min(Math.max(wanted, spec.minReplicas), spec.maxReplicas);
    if (replicas !== target.spec.replicas) {
      this.#store.put('deployments', { ...target, spec: { ...target.spec, replicas } });
    }
  }

  #work(deployment: StoredObject): void {
    const { spec, metadata } = deployment;
    const hash = createHash('sha256').update(JSON.stringify(spec.template)).digest('hex').slice(0, 10);
    const pods = this.#podsOf(deployment).filter((pod) => !pod.metadata.deletionTimestamp);
    const current = pods.filter((pod) => pod.metadata.labels?.['pod-template-hash'] === hash);
    for (let missing = spec.replicas - current.length; missing > 0 && !this.forbidsPods; missing -= 1) {
      this.#make(deployment, hash);
    }
    const tooMany = current.sort(cheapestFirst).slice(0, Math.max(current.length - spec.replicas, 0));
    const outdated =
      current.filter(isReady).length >= spec.replicas ? pods.filter((pod) => !current.includes(pod)) : [];
    for (const pod of [...tooMany, ...outdated]) this.#removePod(pod.metadata.name);
    const ready = pods.filter(isReady).length;
    const refused = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: this.forbidsPods };
    const status = {
      observedGeneration: metadata.generation,
      replicas: pods.length,
      readyReplicas: ready,
      availableReplicas: ready,
      updatedReplicas: current.length,
      ...(this.forbidsPods && { conditions: [refused] }),
    };
    this.#store.put('deployments', { ...this.#store.find('deployments', metadata.name)!, status });
  }

  #make({ metadata, spec }: StoredObject, hash: string): void {
    const { labels, annotations } = spec.template.metadata;
    this.#store.put('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${metadata.name}-${hash}-${randomBytes(3).toString('hex').slice(0, 5)}`,
        namespace: metadata.namespace!,
        labels: { ...labels, 'pod-template-hash': hash },
        annotations,
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: metadata.name, uid: metadata.uid! }],
      },
      spec: structuredClone(spec.template.spec),
      status: { phase: 'Pending' },
    });
  }

  /** Removes pods whose Deployment was deleted. */
  #collect(): void {
    const owners = new Set(this.#store.list('deployments').map(({ metadata }) => metadata.uid));
    for (const { metadata } of this.#store.list('pods')) {
      if (!owners.has(metadata.ownerReferences?.[0]?.uid) && !metadata.deletionTimestamp)
        this.#removePod(metadata.name);
    }
  }

  #podsOf(deployment: StoredObject): StoredObject[] {
    return this.#store.list('pods').filter((pod) => pod.metadata.ownerReferences?.[0]?.uid === deployment.metadata.uid);
  }
}

function isReady(pod: StoredObject): boolean {
  const conditions = (pod.status?.conditions ?? []) as { type: string; status: string }[];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** Sorts surplus pods in the order of their removal: not ready, cheap, new. */
function cheapestFirst(one: StoredObject, other: StoredObject): number {
  const cost = (pod: StoredObject) => Number(pod.metadata.annotations?.[COST] ?? 0);
  return (
    Number(isReady(one)) - Number(isReady(other)) ||
    cost(one) - cost(other) ||
    Number(other.metadata.resourceVersion) - Number(one.metadata.resourceVersion)
  );
}
