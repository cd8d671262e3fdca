import type { ComputeType } from '@runyard/contracts';
import { ConfigError } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import type { PodRules } from '../compute/pod-overrides.ts';
import type { Artifact } from '../revisions/driver.ts';
import { containerRow } from './container/container-row.ts';
import type { DriverRow } from './driver-row.ts';
import { kubernetesRow } from './kubernetes/kubernetes-row.ts';
import { processRow } from './process/process-row.ts';

export const driverVariables = {
  DRIVER: Type.Optional(
    Type.Array(
      Type.Union([Type.Literal(processRow.name), Type.Literal(containerRow.name), Type.Literal(kubernetesRow.name)]),
      {
        minItems: 1,
        description:
          'How deployments are run: `process` (projects), `container` (images), `kubernetes` (images), separated by commas. Default: `kubernetes` with `KUBERNETES_NAMESPACE`, else `process,container`.',
      },
    ),
  ),
  ...processRow.variables,
  ...containerRow.variables,
  ...kubernetesRow.variables,
};

const Settings = Type.Object({ ...driverVariables, DATA_DIR: Type.String(), SCALE_DOWN_SECONDS: Type.Integer() });
export type DriverConfig = Static<typeof Settings>;
export type AnyDriverRow = DriverRow<DriverConfig>;

export const DRIVERS: readonly AnyDriverRow[] = [processRow, containerRow, kubernetesRow];

/** Returns the driver of data planes of this compute type. */
export function driverOf(type: ComputeType): AnyDriverRow {
  const found = DRIVERS.find(({ computeType }) => computeType === type);
  if (!found) throw new Error(`no driver has the compute type ${type}`);
  return found;
}

/**
 * Returns the drivers that this process runs deployments with, at most one for each kind of artifact.
 *
 * @throws ConfigError when two of them accept the same kind
 */
export function chooseDrivers({
  DRIVER,
  KUBERNETES_NAMESPACE,
}: Pick<DriverConfig, 'DRIVER' | 'KUBERNETES_NAMESPACE'>): AnyDriverRow[] {
  // Installations of releases without `DRIVER` go on as they are.
  const names = DRIVER ?? (KUBERNETES_NAMESPACE === undefined ? ['process', 'container'] : ['kubernetes']);
  const chosen = DRIVERS.filter(({ name }) => names.some((each) => each === name));
  for (const [index, { name, accepts }] of chosen.entries()) {
    const other = chosen.find((each, at) => at < index && each.accepts === accepts);
    if (other) throw new ConfigError([`DRIVER must name one of ${other.name} and ${name}: both run ${accepts}s.`]);
  }
  return chosen;
}

/** Returns whether one of the drivers accepts this kind of artifact. */
export function runsArtifact(drivers: readonly AnyDriverRow[], kind: Artifact['kind']): boolean {
  return drivers.some(({ accepts }) => accepts === kind);
}

/** Returns the fields of pods that deployments may choose; undefined where none of the drivers runs pods. */
export function findPodRules(drivers: readonly AnyDriverRow[], config: DriverConfig): PodRules | undefined {
  return drivers.find(({ podRules }) => podRules)?.podRules?.(config);
}
