import { type EventEmitter, once } from 'node:events';
import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import { StartFailure } from '../driver.ts';
import type { Role } from '../scale-bounds.ts';
import type { ClusterApi } from './cluster-api.ts';
import { nameOf } from './labels.ts';
import { failureOf, findingOf, isReady } from './pod-state.ts';

export interface HealthOptions {
  api: ClusterApi;
  revisionId: string;
  role: Role;
  /** Of the role, as they are now. */
  pods(): V1Pod[];
  /** Says `change` when they may be others. */
  changes: EventEmitter;
  /** How many have to be ready. */
  needed: number;
  /** No pod of the revision was ever ready: one end of a container is enough to give it up. */
  isNew: boolean;
  /** What its containers printed has been told. */
  logsSettled(): Promise<void>;
}

const ANSWER_MS = 3_000;

/** @throws StartFailure when a pod of the role fails, or too few are ready when the signal says it is time */
export async function untilHealthy(options: HealthOptions, signal: AbortSignal): Promise<void> {
  const { role, changes, needed, isNew } = options;
  for (;;) {
    const pods = options.pods();
    if (pods.filter(isReady).length >= needed) return;
    const failure = pods.map((pod) => failureOf(pod, isNew)).find((reason) => reason !== null);
    if (failure !== undefined) throw await failed(options, failure);
    try {
      await once(changes, 'change', { signal });
    } catch {
      const late = pods.find((pod) => !isReady(pod));
      const finding = late ? findingOf(late) : await whyNoPods(options);
      throw await failed(options, `${role} was not healthy in time: ${finding}`);
    }
  }
}

async function failed({ logsSettled }: HealthOptions, message: string): Promise<StartFailure> {
  await logsSettled();
  return new StartFailure(message);
}

/** As when a quota is used up, or a policy of the namespace forbids what they are. */
async function whyNoPods({ api, revisionId, role }: HealthOptions): Promise<string> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const found = await api.find<V1Deployment>('Deployment', nameOf(revisionId, role), signal).catch(() => null);
  const refused = found?.status?.conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  return refused?.message ?? 'the cluster has made no pods for it';
}
