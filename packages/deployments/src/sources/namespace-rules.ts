import type { ComputeConfig, ComputeType } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';
import { driverKindOf } from '../drivers/driver-kinds.ts';
import { invalidSource } from './source-fields.ts';

const NAMESPACES = "'compute_config.k8s_namespaces'";
const NAMESPACE = "'source_config.listener_config.k8s_namespace'";

/**
 * Returns the configuration of a listener, each of its namespaces once.
 *
 * @throws BadRequestError for namespaces without a cluster, and for a cluster without namespaces
 */
export function parseComputeConfig(type: ComputeType, { k8s_namespaces: namespaces }: ComputeConfig): ComputeConfig {
  if (!driverKindOf(type).hasPods) {
    if (namespaces != null) throw new BadRequestError(`${NAMESPACES} must be null for the compute type '${type}'.`);
    return {};
  }
  if (namespaces == null || namespaces.length === 0) {
    throw new BadRequestError(`${NAMESPACES} is required for the compute type '${type}'.`);
  }
  return { k8s_namespaces: [...new Set(namespaces)] };
}

/**
 * Returns the namespace that a deployment runs in, of those of its listener. A single one is the default.
 *
 * @returns null outside of a cluster
 * @throws BadRequestError
 */
export function chooseNamespace(
  { type, namespaces }: { type: ComputeType; namespaces: readonly string[] },
  wanted: string | null,
): string | null {
  if (!driverKindOf(type).hasPods) {
    if (wanted === null) return null;
    throw invalidSource(`${NAMESPACE} must be null for the compute type '${type}'`);
  }
  const namespace = wanted ?? (namespaces.length === 1 ? namespaces[0] : undefined);
  if (namespace === undefined || !namespaces.includes(namespace)) {
    throw invalidSource(`${NAMESPACE} must be one of ${namespaces.map((each) => `'${each}'`).join(', ')}`);
  }
  return namespace;
}
