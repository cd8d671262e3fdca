import type { ResourceSpec } from '@runyard/contracts';
import { isOwnName } from './object-names.ts';

/** The fields of pods that deployments may choose, as the cluster's operator allows. */
export interface PodRules {
  /**
   * Allowed keys of labels and annotations: `team`, `example.com/*` for a prefix, `*` for all keys without a prefix.
   */
  metadata: readonly string[];
  /** Names of Secrets that images may be pulled with. */
  pullSecrets: readonly string[];
}

const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
/** Matches keys of Kubernetes and of the platform. */
const RESERVED = /^(?:(?:[^/]*\.)?(?:kubernetes|k8s)\.io\/|io\.runyard[./]|pod-template-hash$)/;
const ANNOTATIONS_BYTES_MAX = 256 * 1024;

/** The fault in a field of a `resource_spec`. */
export interface PodOverrideFault {
  field: 'labels' | 'annotations' | 'image_pull_secrets';
  message: string;
}

/**
 * Returns the first fault in a deployment's pod fields; null when there is none.
 *
 * Other programs in a cluster obey labels and annotations: these decide who may reach a pod, which cloud role it has,
 * and which secrets are mounted into it. A named pull Secret gives access to the images of its owner. Therefore the
 * operator has to allow each of them by name.
 */
export function findPodOverrideFault(
  { labels, annotations, image_pull_secrets: pullSecrets }: ResourceSpec,
  rules: PodRules,
): PodOverrideFault | null {
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
