import type { ComputeType, ResourceSpec } from '@runyard/contracts';
import { faultOfWishes, type PodRules } from '../drivers/kubernetes/pod-wishes.ts';
import { given } from './given.ts';
import { wrongSource } from './source-fields.ts';

/** Servers that only Kubernetes makes for one deployment alone. */
const FOR_KUBERNETES = /^(redis_|db_)/;
const OF_PODS: readonly (keyof ResourceSpec)[] = [
  'service_account_name',
  'volumes',
  'volume_mounts',
  'init_containers',
  'sidecars',
];

/** Of pods, too: what deployments in a cluster of the platform's own may choose. */
const WISHES: readonly (keyof ResourceSpec)[] = ['labels', 'annotations', 'image_pull_secrets'];

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
export function checkResources(
  spec: ResourceSpec,
  { computeType, pods }: { computeType: ComputeType | null; pods: PodRules | null },
): void {
  const rules = computeType === null ? pods : null;
  const foreign = (Object.keys(spec) as (keyof ResourceSpec)[]).find(
    (name) =>
      spec[name] != null &&
      (FOR_KUBERNETES.test(name) || OF_PODS.includes(name) || (WISHES.includes(name) && rules === null)),
  );
  if (foreign && computeType !== 'k8s') {
    throw wrongSource(
      `'source_config.resource_spec.${foreign}' is for data planes on Kubernetes, and must be null here`,
    );
  }
  const fault = rules && faultOfWishes(spec, rules);
  if (fault) throw wrongSource(`of 'source_config.resource_spec' ${fault}`);
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
