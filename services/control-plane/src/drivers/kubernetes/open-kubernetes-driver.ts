import { logSegments } from '../../logs/log-segments.ts';
import type { PullCredentialFactory } from '../../revisions/pull-credential.ts';
import { ClusterApi } from './cluster-api.ts';
import { KubernetesDriver, type KubernetesDriverOptions } from './kubernetes-driver.ts';

/** Long, because a pod may move to a node without its image while no control plane runs. */
const PULL_TOKEN_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;

type Given = Pick<
  KubernetesDriverOptions,
  'platform' | 'openLog' | 'running' | 'countsBefore' | 'logger' | 'rules' | 'autoscaler' | 'coolDownSeconds'
>;

export async function openKubernetesDriver(
  options: Given & { namespace: string; dataDir: string; credentials: PullCredentialFactory },
): Promise<KubernetesDriver> {
  const { namespace, dataDir, credentials, ...rest } = options;
  const client = await import('@kubernetes/client-node');
  const kubeConfig = new client.KubeConfig();
  kubeConfig.loadFromDefault();
  return new KubernetesDriver({
    ...rest,
    api: new ClusterApi(client, kubeConfig, namespace),
    lastLineAt: async (owner) => {
      const newest = (await logSegments.list(dataDir, { ...owner, kind: 'deploy' })).at(-1);
      return newest && (await logSegments.stats(newest))?.mtime;
    },
    credentialFor: credentials(PULL_TOKEN_LIFETIME_MS),
  });
}
