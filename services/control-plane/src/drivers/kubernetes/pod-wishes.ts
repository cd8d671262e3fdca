import type { ResourceSpec } from '@runyard/contracts';
import { isOwnName } from './labels.ts';

/** What of their pods deployments may choose, as the operator of the cluster says. */
export interface PodRules {
  /** Keys of labels and annotations: `team`, `example.com/*` for all with that prefix, `*` for all without one. */
  metadata: readonly string[];
  /** Names of Secrets that images may be pulled with. */
  pullSecrets: readonly string[];
}

const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
/** Kubernetes' own, and the platform's. */
const RESERVED = /^(?:(?:[^/]*\.)?(?:kubernetes|k8s)\.io\/|io\.runyard[./]|pod-template-hash$)/;
const ANNOTATIONS_BYTES_MAX = 256 * 1024;

/** What is wrong with a field of a `resource_spec`. */
export interface PodWishFault {
  field: 'labels' | 'annotations' | 'image_pull_secrets';
  message: string;
}

/**
 * Finds what is wrong with what a deployment wants of its pods; null when nothing is.
 *
 * Labels and annotations are instructions to whatever else runs in a cluster: they choose who may reach a pod, which role it has with a
 * cloud, which secrets are put into it. A Secret that is named opens the images of whoever put it there. So each has to be allowed by name.
 */
export function faultOfPodWishes(
  { labels, annotations, image_pull_secrets: pullSecrets }: ResourceSpec,
  rules: PodRules,
): PodWishFault | null {
  for (const [field, given] of Object.entries({ labels, annotations })) {
    for (const key of Object.keys(given ?? {})) {
      const message = faultOfKey(key, rules);
      if (message !== null) return { field: field as 'labels' | 'annotations', message };
    }
  }
  const wrong = Object.entries(labels ?? {}).find(([, value]) => !LABEL_VALUE.test(value));
  if (wrong) {
    const message = `It has no value of a label at ${wrong[0]}: at most 63 letters, digits, '-', '_' and '.'`;
    return { field: 'labels', message };
  }
  const bytes = Object.entries(annotations ?? {}).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
  if (bytes > ANNOTATIONS_BYTES_MAX) {
    return { field: 'annotations', message: `It must not have more than ${ANNOTATIONS_BYTES_MAX} bytes` };
  }
  const stranger = pullSecrets?.find(({ name }) => isOwnName(name) || !rules.pullSecrets.includes(name));
  if (!stranger) return null;
  return {
    field: 'image_pull_secrets',
    message: `It may not name ${stranger.name} here (KUBERNETES_PULL_SECRETS)`,
  };
}

function faultOfKey(key: string, { metadata }: PodRules): string | null {
  const [prefix, name] = key.includes('/')
    ? [key.slice(0, key.indexOf('/')), key.slice(key.indexOf('/') + 1)]
    : ['', key];
  if (!NAME.test(name) || (key.includes('/') && !PREFIX.test(prefix))) return `It has no key of Kubernetes in ${key}`;
  if (RESERVED.test(key)) return `It may not have ${key}, which is reserved`;
  const isAllowed = metadata.includes(key) || metadata.includes(prefix === '' ? '*' : `${prefix}/*`);
  return isAllowed ? null : `It may not have ${key} here (KUBERNETES_POD_METADATA)`;
}
