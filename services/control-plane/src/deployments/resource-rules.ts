import type { ComputeType, ResourceSpec } from '@runyard/contracts';
import { given } from './given.ts';
import { wrongSource } from './source-fields.ts';

/** Pods, and servers that only Kubernetes makes for one deployment alone. */
const FOR_KUBERNETES = /^(redis_|db_)/;
const OF_PODS: readonly (keyof ResourceSpec)[] = [
  'labels',
  'annotations',
  'service_account_name',
  'image_pull_secrets',
  'volumes',
  'volume_mounts',
  'init_containers',
  'sidecars',
];

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

/** @throws BadRequestError when a limit is below what it limits, or a field is for another kind of data plane */
export function checkResources(spec: ResourceSpec, computeType: ComputeType | null): void {
  const foreign = Object.entries(spec).find(
    ([name, value]) => value != null && (FOR_KUBERNETES.test(name) || OF_PODS.includes(name as keyof ResourceSpec)),
  );
  if (foreign && computeType !== 'k8s') {
    throw wrongSource(
      `'source_config.resource_spec.${foreign[0]}' is for data planes on Kubernetes, and must be null here`,
    );
  }
  for (const [low, high] of ORDERED) {
    const [least, most] = [spec[low], spec[high]];
    if (least != null && most != null && least > most) {
      throw wrongSource(`'source_config.resource_spec.${high}' must not be less than '${low}'`);
    }
  }
}

/** As it is stored: without nulls, cores to one decimal. */
export function keptResources(spec: ResourceSpec): ResourceSpec {
  const entries = Object.entries(given(spec)).map(([name, value]) => [
    name,
    typeof value === 'number' && /cpu/.test(name) ? Math.round(value * 10) / 10 : value,
  ]);
  return Object.fromEntries(entries) as ResourceSpec;
}
