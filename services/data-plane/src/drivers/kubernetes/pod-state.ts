import type { V1ContainerState, V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import type { ReplicaRole } from '@runyard/deployments';
import { LABELS } from '../labels.ts';
import { CUSTOM_AUTH, FOREIGN_IMAGE_CODE, PREPARING_CONTAINER } from './secret-handover.ts';

/** Reasons of a waiting container that do not pass by waiting. */
const PULL_FAILURES = ['ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];
const CREATION_FAILURES = ['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'];

export function roleOf(pod: V1Pod): ReplicaRole | undefined {
  const role = pod.metadata?.labels?.[LABELS.part];
  return role === 'agent-api' || role === 'run-worker' ? role : undefined;
}

/** Returns whether the pod is neither being deleted nor ended. */
export function isLive(pod: V1Pod): boolean {
  const { phase } = pod.status ?? {};
  return !pod.metadata?.deletionTimestamp && phase !== 'Failed' && phase !== 'Succeeded';
}

/** Returns whether the pod accepts requests. */
export function isReady(pod: V1Pod): boolean {
  return isLive(pod) && conditionOf(pod, 'Ready')?.status === 'True';
}

/** Returns the status of the container with the platform's service. */
export function serviceStatus(pod: V1Pod): V1ContainerStatus | undefined {
  const role = roleOf(pod);
  return pod.status?.containerStatuses?.find(({ name }) => name === role);
}

/** Returns whether the project in the pod's image authenticates its callers itself. */
export function hasCustomAuth(pod: V1Pod): boolean {
  const status = pod.status?.initContainerStatuses?.find(({ name }) => name === PREPARING_CONTAINER);
  return status?.state?.terminated?.message === CUSTOM_AUTH;
}

/**
 * Returns why the pod has failed, in words for the revision's owner; null when it has not.
 *
 * @param isNew whether no pod of the revision was ever ready: then a single end of a container is a failure
 */
export function failureOf(pod: V1Pod, isNew: boolean): string | null {
  const role = roleOf(pod) ?? 'a container';
  for (const status of [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]) {
    const who = status.name === PREPARING_CONTAINER ? role : status.name;
    const failure = failureOfContainer(status, who, isNew);
    if (failure !== null) return failure;
  }
  return null;
}

function failureOfContainer(status: V1ContainerStatus, who: string, isNew: boolean): string | null {
  const { image, state, lastState } = status;
  const { reason = '', message = '' } = state?.waiting ?? {};
  if (PULL_FAILURES.includes(reason)) return `the image ${image} cannot be pulled: ${message || reason}`;
  if (CREATION_FAILURES.includes(reason)) return `${who} could not be started: ${message || reason}`;
  const isPreparing = status.name === PREPARING_CONTAINER;
  const isBackingOff = reason === 'CrashLoopBackOff';
  const ended =
    findUnexpectedEnd(state, isPreparing) ??
    (isNew || isBackingOff ? findUnexpectedEnd(lastState, isPreparing) : undefined);
  if (!ended) return null;
  if (isPreparing && [FOREIGN_IMAGE_CODE, 127].includes(ended.exitCode)) return describeForeignImage(image);
  return `${who} ${describeEnd(ended)} before it was healthy`;
}

function describeForeignImage(image: string): string {
  return (
    `the image ${image} is not built from runyard/agent-server: it has no command runyard-agent. ` +
    'Build it with `--base-image runyard/agent-server:20`'
  );
}

/** Returns the end of a container unless it is expected: only an init container ends with code 0. */
function findUnexpectedEnd(state: V1ContainerState | undefined, mayEnd: boolean): V1ContainerState['terminated'] {
  const ended = state?.terminated;
  return ended && mayEnd && ended.exitCode === 0 ? undefined : ended;
}

function describeEnd(ended: NonNullable<V1ContainerState['terminated']>): string {
  if (ended.reason === 'OOMKilled') return 'was ended because it needed more memory than its limit';
  const because = ended.message ? `: ${ended.message.trim()}` : '';
  if (ended.reason === 'StartError') return `could not be started${because}`;
  return `ended with code ${ended.exitCode}${because}`;
}

/** Returns why a pod is not ready although nothing has failed. */
export function describeUnready(pod: V1Pod): string {
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status === 'False') return `the cluster has no place for it: ${scheduled.message ?? scheduled.reason}`;
  const waiting = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
    .map(({ state }) => state?.waiting)
    .find((state) => state?.reason && state.reason !== 'PodInitializing');
  if (waiting) return waiting.message ? `${waiting.reason}: ${waiting.message}` : waiting.reason!;
  return 'it does not answer that it is';
}

function conditionOf(pod: V1Pod, type: string) {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}
