import type { ComputeType } from '@runyard/contracts';
import { ConfigError } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import type { PodRules } from '../compute/pod-overrides.ts';
import type { Artifact } from '../revisions/artifact.ts';

/** One way to run revisions, as far as those who run none have to know it. */
export interface DriverKind {
  /** The name by which `DRIVER` chooses it. */
  name: string;
  /** The type of listeners whose data planes run it. */
  computeType: ComputeType;
  accepts: Artifact['kind'];
  /** True when it runs pods, of which deployments may choose fields, in namespaces. */
  hasPods: boolean;
}

export const processKind = { name: 'process', computeType: 'process', accepts: 'project', hasPods: false } as const;
export const containerKind = { name: 'container', computeType: 'docker', accepts: 'image', hasPods: false } as const;
export const kubernetesKind = { name: 'kubernetes', computeType: 'k8s', accepts: 'image', hasPods: true } as const;

export const DRIVER_KINDS: readonly DriverKind[] = [processKind, containerKind, kubernetesKind];

export const driverKindVariables = {
  DRIVER: Type.Array(
    Type.Union([Type.Literal(processKind.name), Type.Literal(containerKind.name), Type.Literal(kubernetesKind.name)]),
    {
      minItems: 1,
      default: [processKind.name, containerKind.name],
      description:
        "How the platform's own data planes run deployments, the same for them and control-plane: `process` (projects), `container` (images), `kubernetes` (images), separated by commas.",
    },
  ),
  KUBERNETES_POD_METADATA: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description:
      'Keys of labels and annotations that deployments may give their pods: `team`, `example.com/*` for all with a prefix, `*` for all without one.',
  }),
  KUBERNETES_PULL_SECRETS: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'Secrets of the namespace, by name, that deployments may have their images pulled with.',
  }),
};

const Settings = Type.Object(driverKindVariables);
export type DriverKindConfig = Static<typeof Settings>;

/**
 * Returns the kinds of drivers that run deployments, at most one for each kind of artifact.
 *
 * @throws ConfigError when two of them accept the same kind
 */
export function chooseDriverKinds({ DRIVER: names }: Pick<DriverKindConfig, 'DRIVER'>): DriverKind[] {
  const chosen = DRIVER_KINDS.filter(({ name }) => names.some((each) => each === name));
  for (const [index, { name, accepts }] of chosen.entries()) {
    const other = chosen.find((each, at) => at < index && each.accepts === accepts);
    if (other) throw new ConfigError([`DRIVER must name one of ${other.name} and ${name}: both run ${accepts}s.`]);
  }
  return chosen;
}

/** Returns the kind of driver of data planes of this compute type. */
export function driverKindOf(type: ComputeType): DriverKind {
  const found = DRIVER_KINDS.find(({ computeType }) => computeType === type);
  if (!found) throw new Error(`no driver has the compute type ${type}`);
  return found;
}

/** Returns whether one of the drivers accepts this kind of artifact. */
export function runsArtifact(drivers: readonly DriverKind[], kind: Artifact['kind']): boolean {
  return drivers.some(({ accepts }) => accepts === kind);
}

/** Returns the fields of pods that deployments may choose; undefined where none of the drivers runs pods. */
export function findPodRules(
  drivers: readonly DriverKind[],
  config: Pick<DriverKindConfig, 'KUBERNETES_POD_METADATA' | 'KUBERNETES_PULL_SECRETS'>,
): PodRules | undefined {
  if (!drivers.some(({ hasPods }) => hasPods)) return undefined;
  return { metadata: config.KUBERNETES_POD_METADATA, pullSecrets: config.KUBERNETES_PULL_SECRETS };
}
