import Type, { type Static } from 'typebox';
import type { PodRules } from '../../compute/pod-overrides.ts';

export const kubernetesVariables = {
  KUBERNETES_NAMESPACE: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
      description:
        'Namespace of a Kubernetes cluster that images run in, in place of a container engine. The cluster is that of `KUBECONFIG`, else the one this service runs in.',
    }),
  ),
  KUBERNETES_AUTOSCALER: Type.Union([Type.Literal('auto'), Type.Literal('cluster'), Type.Literal('platform')], {
    default: 'auto',
    description:
      'Who scales deployments in the cluster: its own autoscaler (`cluster`), this service (`platform`), or the first where the cluster has an external metrics API.',
  }),
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

const Settings = Type.Object(kubernetesVariables);

/** Returns the fields of pods that deployments may choose. */
export function podRulesOf({
  KUBERNETES_POD_METADATA: metadata,
  KUBERNETES_PULL_SECRETS: pullSecrets,
}: Static<typeof Settings>): PodRules {
  return { metadata, pullSecrets };
}
