import { type EventEmitter, once } from 'node:events';
import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import type { ReplicaRole } from '@runyard/deployments';
import { objectName, RevisionStartError } from '@runyard/deployments';
import type { ClusterApi } from './cluster-api.ts';
import { describeUnready, failureOf, isReady } from './pod-state.ts';

export interface HealthOptions {
  api: ClusterApi;
  revisionId: string;
  role: ReplicaRole;
  /** Returns the current pods of the role. */
  pods(): V1Pod[];
  /** Emits `change` when the pods may have changed. */
  changes: EventEmitter;
  /** The number of pods that have to be ready. */
  needed: number;
  /** True when no pod of the revision was ever ready: then a single end of a container is a failure. */
  isNew: boolean;
  /** Resolves when the output of its containers is logged. */
  logsSettled(): Promise<void>;
}

const ANSWER_MS = 3_000;

/** @throws RevisionStartError when a pod of the role fails, or too few are ready when the signal aborts */
export async function waitForHealthyPods(options: HealthOptions, signal: AbortSignal): Promise<void> {
  const { role, changes, needed, isNew } = options;
  for (;;) {
    const pods = options.pods();
    if (pods.filter(isReady).length >= needed) return;
    const failure = pods.map((pod) => failureOf(pod, isNew)).find((reason) => reason !== null);
    if (failure !== undefined) throw await makeFailure(options, failure);
    try {
      await once(changes, 'change', { signal });
    } catch {
      const late = pods.find((pod) => !isReady(pod));
      const finding = late ? describeUnready(late) : await whyNoPods(options);
      throw await makeFailure(options, `${role} was not healthy in time: ${finding}`);
    }
  }
}

async function makeFailure({ logsSettled }: HealthOptions, message: string): Promise<RevisionStartError> {
  await logsSettled();
  return new RevisionStartError(message);
}

/** Returns why there are no pods: a quota is exhausted, for example, or a policy of the namespace forbids them. */
async function whyNoPods({ api, revisionId, role }: HealthOptions): Promise<string> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const found = await api.find<V1Deployment>('Deployment', objectName(revisionId, role), signal).catch(() => null);
  const refused = found?.status?.conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  return refused?.message ?? 'the cluster has made no pods for it';
}
