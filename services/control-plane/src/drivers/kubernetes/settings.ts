import Type from 'typebox';

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
};
