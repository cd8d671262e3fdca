import { PULL_TOKEN_SECONDS_MAX } from '@runyard/contracts';
import { driverKindVariables, findPodRules, kubernetesKind } from '@runyard/deployments';
import { logSegments } from '@runyard/revision-logs';
import { ConfigError } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import type { DriverOptions, DriverRow } from '../driver-row.ts';
import { ClusterApi } from './cluster-api.ts';
import { DriversByNamespace } from './drivers-by-namespace.ts';
import { KubernetesDriver } from './kubernetes-driver.ts';

const variables = {
  KUBERNETES_NAMESPACE: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
      description:
        'Namespace of a Kubernetes cluster that deployments run in. The cluster is that of `KUBECONFIG`, else the one this service runs in.',
    }),
  ),
  KUBERNETES_AUTOSCALER: Type.Union([Type.Literal('auto'), Type.Literal('cluster'), Type.Literal('platform')], {
    default: 'auto',
    description:
      'Who scales deployments in the cluster: its own autoscaler (`cluster`), this service (`platform`), or the first where the cluster has an external metrics API.',
  }),
};

const Settings = Type.Object({
  ...driverKindVariables,
  ...variables,
  DATA_DIR: Type.String(),
  SCALE_DOWN_SECONDS: Type.Integer(),
});
type Settings = Static<typeof Settings>;

/** Long, because a pod may move to a node without its image while no data plane runs. */
const PULL_TOKEN_LIFETIME_MS = PULL_TOKEN_SECONDS_MAX * 1000;

export const kubernetesRow = {
  ...kubernetesKind,
  variables,
  outlivesProcess: true,
  open: async (config, options) => {
    const { KUBERNETES_NAMESPACE: defaultNamespace } = config;
    if (defaultNamespace === undefined)
      throw new ConfigError(['KUBERNETES_NAMESPACE is required with the driver kubernetes.']);
    const open = (namespace: string) => openIn(namespace, config, options);
    return new DriversByNamespace({ defaultDriver: await open(defaultNamespace), defaultNamespace, open });
  },
} as const satisfies DriverRow<Settings>;

async function openIn(
  namespace: string,
  config: Settings,
  { credentials, ...options }: DriverOptions,
): Promise<KubernetesDriver> {
  const client = await import('@kubernetes/client-node');
  const kubeConfig = new client.KubeConfig();
  kubeConfig.loadFromDefault();
  return new KubernetesDriver({
    ...options,
    api: new ClusterApi(client, kubeConfig, namespace),
    lastLineAt: async (owner) => {
      const newest = (await logSegments.list(config.DATA_DIR, { ...owner, kind: 'deploy' })).at(-1);
      return newest && (await logSegments.stats(newest))?.mtime;
    },
    credentialFor: credentials(PULL_TOKEN_LIFETIME_MS),
    rules: findPodRules([kubernetesKind], config)!,
    autoscaler: config.KUBERNETES_AUTOSCALER,
    coolDownSeconds: config.SCALE_DOWN_SECONDS,
  });
}
