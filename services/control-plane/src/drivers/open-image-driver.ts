import Type, { type Static } from 'typebox';
import type { Driver } from '../revisions/driver.ts';
import type { PullCredentialFactory } from '../revisions/pull-credential.ts';
import { containerVariables, openContainerDriver } from './container/open-container-driver.ts';
import type { PlatformSettings } from './deployment-variables.ts';
import { DriversByNamespace } from './drivers-by-namespace.ts';
import { openKubernetesDriver } from './kubernetes/open-kubernetes-driver.ts';
import { kubernetesVariables, podRulesOf } from './kubernetes/settings.ts';
import type { SupervisionOptions } from './process/launcher.ts';

const Settings = Type.Object({
  ...containerVariables,
  ...kubernetesVariables,
  DATA_DIR: Type.String(),
  SCALE_DOWN_SECONDS: Type.Integer(),
});

export interface ImageDriver extends Driver {
  /** Removes what is left of a deleted deployment. @param namespace of the cluster it ran in; default: the usual one */
  removeLeftovers(deploymentId: string, namespace?: string): Promise<void>;
  close?(): unknown;
}

/**
 * Opens the driver for images: a cluster's where a namespace is configured, otherwise this machine's container engine.
 */
export async function openImageDriver(
  config: Static<typeof Settings>,
  options: SupervisionOptions & { platform: PlatformSettings; leaseOwner: string; credentials: PullCredentialFactory },
): Promise<ImageDriver> {
  const { KUBERNETES_NAMESPACE: defaultNamespace, KUBERNETES_AUTOSCALER: autoscaler } = config;
  if (defaultNamespace === undefined) return openContainerDriver(config, options);
  const { DATA_DIR: dataDir, SCALE_DOWN_SECONDS: coolDownSeconds } = config;
  const open = (namespace: string) =>
    openKubernetesDriver({ ...options, namespace, dataDir, rules: podRulesOf(config), autoscaler, coolDownSeconds });
  return new DriversByNamespace({ defaultDriver: await open(defaultNamespace), defaultNamespace, open });
}
