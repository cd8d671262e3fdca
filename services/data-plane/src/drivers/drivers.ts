import { chooseDriverKinds, driverKindVariables } from '@runyard/deployments';
import { ConfigError } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import { containerRow } from './container/container-row.ts';
import type { DriverRow } from './driver-row.ts';
import { kubernetesRow } from './kubernetes/kubernetes-row.ts';
import { processRow } from './process/process-row.ts';

export const driverVariables = {
  ...driverKindVariables,
  ...processRow.variables,
  ...containerRow.variables,
  ...kubernetesRow.variables,
};

const Settings = Type.Object({ ...driverVariables, DATA_DIR: Type.String(), SCALE_DOWN_SECONDS: Type.Integer() });
export type DriverConfig = Static<typeof Settings>;
export type AnyDriverRow = DriverRow<DriverConfig>;

const DRIVERS: readonly AnyDriverRow[] = [processRow, containerRow, kubernetesRow];

/**
 * Returns the drivers that this process runs deployments with, at most one for each kind of artifact.
 *
 * @throws ConfigError when two of them accept the same kind, or a cluster is named that none of them uses
 */
export function chooseDrivers(config: Pick<DriverConfig, 'DRIVER' | 'KUBERNETES_NAMESPACE'>): AnyDriverRow[] {
  const kinds = chooseDriverKinds(config);
  // Releases without `DRIVER` ran everything in the cluster then.
  if (config.KUBERNETES_NAMESPACE !== undefined && !kinds.some(({ hasPods }) => hasPods))
    throw new ConfigError(['KUBERNETES_NAMESPACE is for the driver kubernetes: set DRIVER to kubernetes.']);
  return DRIVERS.filter(({ name }) => kinds.some((kind) => kind.name === name));
}
