import type { ComputeType, DeploymentType, ResourceSpec, SourceConfig } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import { findPodOverrideFault, type PodRules } from '../compute/pod-overrides.ts';
import { driverKindOf } from '../drivers/driver-kinds.ts';

/**
 * Matches fields that no data plane supports: servers of the deployment's own, and parts of pods that would give it
 * access to what belongs to others.
 */
const UNSUPPORTED = /^(redis_.*|db_.*|volumes|volume_mounts|init_containers|sidecars|service_account_name)$/;

/** Fields of pods that deployments in a cluster may choose, within the operator's rules. */
const POD_FIELDS: readonly (keyof ResourceSpec)[] = ['labels', 'annotations', 'image_pull_secrets'];

/** Pairs of fields of which the first must not exceed the second. */
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

/** Types whose deployments have no process on other platforms while nobody asks them. */
const TO_ZERO: readonly (DeploymentType | null | undefined)[] = ['dev_zero', 'dev_free_zero', 'serverless'];

export interface ResourceRules {
  /** The type of the deployment. */
  config: Pick<SourceConfig, 'deployment_type'>;
  /** The compute type of the listener that runs it; null when the platform itself does. */
  computeType: ComputeType | null;
  /** The pod rules of the cluster that runs it; null outside a cluster, and until its data plane has reported them. */
  pods: PodRules | null;
}

/** @throws InvalidFieldError that names a field that the data plane would refuse, or a limit below its request */
export function checkResources(spec: ResourceSpec, { config, computeType, pods }: ResourceRules): void {
  const wanted = Object.entries(spec).filter(([, value]) => value != null) as [keyof ResourceSpec, unknown][];
  for (const [name] of wanted) {
    if (UNSUPPORTED.test(name)) throw refuseField(name, 'No data plane takes it: leave it out');
    if (POD_FIELDS.includes(name) && pods === null && !(computeType && driverKindOf(computeType).hasPods)) {
      throw refuseField(name, 'It is for deployments that run in a Kubernetes cluster: leave it out');
    }
  }
  const fault = pods && findPodOverrideFault(spec, pods);
  if (fault) throw refuseField(fault.field, fault.message);
  const none = (['min_scale', 'queue_min_scale'] as const).find((field) => spec[field] === 0);
  if (none && !TO_ZERO.includes(config.deployment_type))
    throw refuseField(none, `It must not be 0 for the type '${config.deployment_type}'`);
  for (const [low, high] of ORDERED) {
    const [least, most] = [spec[low], spec[high]];
    if (least != null && most != null && least > most) throw refuseField(high, `It must not be less than '${low}'`);
  }
}

function refuseField(field: keyof ResourceSpec, message: string): InvalidFieldError {
  return new InvalidFieldError(['body', 'source_config', 'resource_spec', field], message);
}
