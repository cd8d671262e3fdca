import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { waitFor } from '@runyard/test-kit';

/** The program that reaches the cluster. */
export const KUBECTL = process.env.KUBECTL || 'kubectl';

/** The namespace of the release; that of its deployments; that of a data plane which is not the platform's. */
export const NAMESPACE = 'runyard-test';
export const AGENTS = 'runyard-test-agents';
export const REMOTE = 'runyard-test-remote';

/** The label by which everything of this suite is found that no namespace removes. */
export const LABEL = 'io.runyard.test=kubernetes';

export interface KubernetesObject {
  apiVersion?: string;
  kind: string;
  metadata: {
    name: string;
    uid: string;
    namespace?: string;
    labels?: Record<string, string>;
    deletionTimestamp?: string;
  };
  spec?: { replicas?: number };
}
export interface Pod extends KubernetesObject {
  status: { phase: string; podIP?: string; conditions?: { type: string; status: string }[] };
}

/** Returns what kubectl prints. @throws with its error */
export function runKubectl(...args: string[]): Promise<string> {
  return runProgram(KUBECTL, args);
}

/** Returns what a program prints. @throws with what it printed on its standard error */
export async function runProgram(program: string, args: string[], input = ''): Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (code === 0) return out.trim();
  throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${error.trim()}`);
}

/** Makes objects, or changes them. */
export async function apply(...objects: object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  await runProgram(KUBECTL, ['apply', '-f', '-'], JSON.stringify(list));
}

/** Returns objects of a kind, or of several that are separated by commas. */
export async function list<T extends KubernetesObject>(kind: string, ...args: string[]): Promise<T[]> {
  return (JSON.parse(await runKubectl('get', kind, '--output=json', ...args)) as { items: T[] }).items;
}

/** Returns the pods that are not about to end. */
export async function listPods(namespace: string, selector: string): Promise<Pod[]> {
  const pods = await list<Pod>('pods', '--namespace', namespace, '--selector', selector);
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

export const isReady = ({ status }: Pod): boolean =>
  status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

/**
 * Ends a pod without the grace that its service asks for, and returns when no process of it is left: until then it
 * answers whoever has a connection to it.
 */
export async function kill({ metadata: { name, namespace } }: Pod): Promise<void> {
  await runKubectl('delete', 'pod', name, '--namespace', namespace as string, '--grace-period=1', '--wait');
}

/** Asks the cluster to evict a pod, as a drain of its node does; returns whether a disruption budget allows it now. */
export async function evict({ metadata: { name, namespace } }: Pod): Promise<boolean> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  return runProgram(KUBECTL, ['create', '--raw', path, '-f', '-'], JSON.stringify(eviction)).then(
    () => true,
    (error: unknown) => {
      if (/disruption budget/.test(String(error))) return false;
      throw error;
    },
  );
}

/** Waits until so many pods are ready that are none of those before. */
export function waitForPods(
  place: { namespace: string; selector: string },
  count: number,
  ended: Pod[] = [],
): Promise<Pod[]> {
  const former = new Set(ended.map(({ metadata }) => metadata.uid));
  return waitFor(
    async () => {
      const pods = await listPods(place.namespace, place.selector);
      const areReady = pods.every((pod) => isReady(pod) && !former.has(pod.metadata.uid));
      return areReady && pods.length === count && pods;
    },
    { what: `${count} ready pods ${place.selector}`, intervalMs: 500 },
  );
}
