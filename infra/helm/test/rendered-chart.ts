import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { CHART, helm } from './helm.ts';

export interface Labels {
  [name: string]: string;
}
interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string } };
}
interface Container {
  name: string;
  image: string;
  env: Variable[];
  securityContext: object;
  resources: { requests: object; limits: object };
  startupProbe?: object;
  livenessProbe?: object;
  readinessProbe?: object;
}
export interface PodSpec {
  automountServiceAccountToken?: boolean;
  securityContext?: object;
  containers: Container[];
  volumes?: { name: string }[];
}
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels: Labels; annotations?: Labels };
  data?: Record<string, string>;
  // Each kind has its own; tests read the fields that they name.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  spec?: any;
  rules?: object[];
  roleRef?: object;
  subjects?: object[];
}

/** The files below `values`, each a way to install the platform. */
export const INSTALLATIONS = ['small', 'large'] as const;

/** Returns the objects that an installation consists of, with further arguments for Helm. */
export async function render(installation: (typeof INSTALLATIONS)[number], ...args: string[]): Promise<Manifest[]> {
  const values = join(import.meta.dirname, 'values', `${installation}.yaml`);
  const text = await helm('template', 'runyard', CHART, '--namespace', 'platform', '--values', values, ...args);
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** Returns the pods that objects describe, by the name of their object. */
export function listPods(manifests: Manifest[]): { name: string; labels: Labels; spec: PodSpec }[] {
  return manifests
    .filter(({ spec }) => spec?.template?.spec)
    .map(({ metadata, spec }) => ({
      name: metadata.name,
      labels: spec.template.metadata.labels,
      spec: spec.template.spec,
    }));
}

/** Returns true when all labels of a selector are among those of a pod. */
export function selects(selector: { matchLabels?: Labels } | undefined, labels: Labels): boolean {
  return Object.entries(selector?.matchLabels ?? {}).every(([name, value]) => labels[name] === value);
}
