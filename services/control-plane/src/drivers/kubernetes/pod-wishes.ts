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

/**
 * What is wrong with what a deployment wants of its pods, as `'<field>' …`; null when nothing is.
 *
 * Labels and annotations are instructions to whatever else runs in a cluster: they choose who may reach a pod, which role it has with a
 * cloud, which secrets are put into it. A Secret that is named opens the images of whoever put it there. So each has to be allowed by name.
 */
export function faultOfWishes(
  { labels, annotations, image_pull_secrets: pullSecrets }: ResourceSpec,
  rules: PodRules,
): string | null {
  for (const [field, given] of Object.entries({ labels, annotations })) {
    for (const key of Object.keys(given ?? {})) {
      const fault = faultOfKey(key, rules);
      if (fault !== null) return `'${field}' ${fault}`;
    }
  }
  const wrong = Object.entries(labels ?? {}).find(([, value]) => !LABEL_VALUE.test(value));
  if (wrong) return `'labels' has no value of a label at ${wrong[0]}: at most 63 letters, digits, '-', '_' and '.'`;
  const bytes = Object.entries(annotations ?? {}).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
  if (bytes > ANNOTATIONS_BYTES_MAX) return `'annotations' must not have more than ${ANNOTATIONS_BYTES_MAX} bytes`;
  const stranger = pullSecrets?.find(({ name }) => isOwnName(name) || !rules.pullSecrets.includes(name));
  if (stranger) return `'image_pull_secrets' may not name ${stranger.name} here (KUBERNETES_PULL_SECRETS)`;
  return null;
}

function faultOfKey(key: string, { metadata }: PodRules): string | null {
  const [prefix, name] = key.includes('/')
    ? [key.slice(0, key.indexOf('/')), key.slice(key.indexOf('/') + 1)]
    : ['', key];
  if (!NAME.test(name) || (key.includes('/') && !PREFIX.test(prefix))) return `has no key of Kubernetes in ${key}`;
  if (RESERVED.test(key)) return `may not have ${key}: it is reserved`;
  const isAllowed = metadata.includes(key) || metadata.includes(prefix === '' ? '*' : `${prefix}/*`);
  return isAllowed ? null : `may not have ${key} here (KUBERNETES_POD_METADATA)`;
}
