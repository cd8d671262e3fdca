import { isDeepStrictEqual } from 'node:util';
import { ObjectSerializer } from '@kubernetes/client-node/dist/serializer.js';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Pod, Secret, Service } from 'kubernetes-models/v1';
import { ApiError } from './api-error.ts';
import type { StoredObject } from './object-store.ts';

/** The published schemas, and the names of the types that have every existing field. */
const KINDS = {
  deployments: [Deployment, 'V1Deployment'],
  horizontalpodautoscalers: [HorizontalPodAutoscaler, 'V2HorizontalPodAutoscaler'],
  poddisruptionbudgets: [PodDisruptionBudget, 'V1PodDisruptionBudget'],
  pods: [Pod, 'V1Pod'],
  secrets: [Secret, 'V1Secret'],
  services: [Service, 'V1Service'],
} as const;

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$/;

/** Validates an object like the API server: against the schemas, without unknown fields, and by some further rules. */
export function checkObject(plural: string, object: StoredObject): void {
  const [Model, type] = KINDS[plural as keyof typeof KINDS];
  const plain = structuredClone(object);
  const known: unknown = JSON.parse(JSON.stringify(ObjectSerializer.serialize(plain, type)));
  if (!isDeepStrictEqual(known, JSON.parse(JSON.stringify(plain)))) {
    throw new ApiError(
      400,
      'BadRequest',
      `failed to create typed patch object: field not declared in schema of ${type}`,
    );
  }
  const invalid = (why: string) =>
    new ApiError(422, 'Invalid', `${object.kind} "${object.metadata.name}" is invalid: ${why}`);
  try {
    new (Model as new (data: object) => { validate(): void })(plain).validate();
  } catch (error) {
    throw invalid((error as Error).message);
  }
  const { name, labels = {} } = object.metadata;
  if (!NAME.test(name) || (plural === 'services' && name.length > 63)) throw invalid(`metadata.name: ${name}`);
  const wrong = Object.values(labels).find((value) => !LABEL_VALUE.test(value));
  if (wrong !== undefined) throw invalid(`metadata.labels: ${wrong}`);
  if (plural === 'deployments') checkSelector(object, invalid);
}

function checkSelector(object: StoredObject, invalid: (why: string) => ApiError): void {
  const { selector, template } = object.spec as {
    selector: { matchLabels: Record<string, string> };
    template: { metadata: { labels: Record<string, string> }; spec: { containers: { name: string }[] } };
  };
  const matches = Object.entries(selector.matchLabels).every(
    ([name, value]) => template.metadata.labels[name] === value,
  );
  if (!matches) throw invalid('`selector` does not match template `labels`');
  const names = template.spec.containers.map(({ name }) => name);
  if (new Set(names).size !== names.length) throw invalid('spec.template.spec.containers: duplicate name');
}
