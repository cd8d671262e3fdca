import type { ComputeType, ResourceSpec } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import { faultOfPodWishes, type PodRules } from '../drivers/kubernetes/pod-wishes.ts';
import { given } from './given.ts';

/** Servers of its own that no data plane makes for a deployment, and parts of pods by which it would reach what is others'. */
const NEVER_TAKEN = /^(redis_.*|db_.*|volumes|volume_mounts|init_containers|sidecars|service_account_name)$/;

/** What deployments in a cluster may choose of their pods, as its operator lets them. */
const OF_PODS: readonly (keyof ResourceSpec)[] = ['labels', 'annotations', 'image_pull_secrets'];

/** The smaller one and the larger one. */
const ORDERED = [
  ['min_scale', 'max_scale'],
  ['cpu', 'cpu_limit'],
  ['memory_mb', 'memory_limit_mb'],
  ['queue_min_scale', 'queue_max_scale'],
  ['queue_cpu', 'queue_cpu_limit'],
  ['queue_memory_mb', 'queue_memory_limit_mb'],
  ['redis_cpu', 'redis_cpu_limit'],
  ['redis_memory_mb', 'redis_memory_limit_mb'],
  ['db_cpu', 'db_cpu_limit'],
  ['db_memory_mb', 'db_memory_limit_mb'],
] as const satisfies readonly (readonly [keyof ResourceSpec, keyof ResourceSpec])[];

export interface ResourceRules {
  /** Of the listener that runs it; null: the platform itself does. */
  computeType: ComputeType | null;
  /** Of the cluster that runs it; null where it runs elsewhere, or its data plane has not said them yet. */
  pods: PodRules | null;
}

/** @throws InvalidFieldError naming a field that the data plane would refuse, or a limit below what it limits */
export function checkResources(spec: ResourceSpec, { computeType, pods }: ResourceRules): void {
  const wanted = Object.entries(spec).filter(([, value]) => value != null) as [keyof ResourceSpec, unknown][];
  for (const [name] of wanted) {
    if (NEVER_TAKEN.test(name)) throw refuseField(name, 'No data plane takes it: leave it out');
    if (OF_PODS.includes(name) && pods === null && computeType !== 'k8s') {
      throw refuseField(name, 'It is for deployments that run in a Kubernetes cluster: leave it out');
    }
  }
  const fault = pods && faultOfPodWishes(spec, pods);
  if (fault) throw refuseField(fault.field, fault.message);
  for (const [low, high] of ORDERED) {
    const [least, most] = [spec[low], spec[high]];
    if (least != null && most != null && least > most) throw refuseField(high, `It must not be less than '${low}'`);
  }
}

function refuseField(field: keyof ResourceSpec, message: string): InvalidFieldError {
  return new InvalidFieldError(['body', 'source_config', 'resource_spec', field], message);
}

/** As it is stored: without nulls, cores to one decimal. */
export function keptResources(spec: ResourceSpec): ResourceSpec {
  const entries = Object.entries(given(spec)).map(([name, value]) => [
    name,
    typeof value === 'number' && /cpu/.test(name) ? Math.round(value * 10) / 10 : value,
  ]);
  return Object.fromEntries(entries) as ResourceSpec;
}
