import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from './api-error.ts';
import { checkObject } from './check-object.ts';

export interface StoredObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    generation?: number;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    deletionGracePeriodSeconds?: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean }[];
  };
  // biome-ignore lint/suspicious/noExplicitAny: of any kind
  [field: string]: any;
}

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  plural: string;
  version: number;
  object: StoredObject;
}

/**
 * Stores the API server's objects by kind and name, with a version for each change and the changes that watchers may
 * still request.
 */
export class ObjectStore {
  readonly #objects = new Map<string, StoredObject>();
  /** The object that each manager applied last, which shows what it leaves out the next time. */
  readonly #applied = new Map<string, Map<string, object>>();
  readonly #listeners = new Set<(event: WatchEvent) => void>();
  #events: WatchEvent[] = [];
  #version = 1;
  #oldest = 1;

  get version(): number {
    return this.#version;
  }

  onEvent(listener: (event: WatchEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @throws ApiError 410 when the events are not stored any more */
  eventsSince(plural: string, version: number): WatchEvent[] {
    if (version < this.#oldest) throw new ApiError(410, 'Expired', `too old resource version: ${version}`);
    return this.#events.filter((event) => event.plural === plural && event.version > version);
  }

  /** Forgets all events so far, as an API server does after some minutes. */
  compact(): void {
    this.#events = [];
    this.#version += 1;
    this.#oldest = this.#version;
  }

  find(plural: string, name: string): StoredObject | undefined {
    return this.#objects.get(`${plural}/${name}`);
  }

  list(plural: string, labelSelector = ''): StoredObject[] {
    const wanted = labelSelector
      .split(',')
      .filter(Boolean)
      .map((each) => each.split('=') as [string, string]);
    return [...this.#objects]
      .filter(
        ([key, object]) =>
          key.startsWith(`${plural}/`) && wanted.every(([name, value]) => object.metadata.labels?.[name] === value),
      )
      .map(([, object]) => object);
  }

  /**
   * Applies an object (server-side apply): removes fields that the manager left out since the last time, and keeps
   * those of others.
   */
  apply(plural: string, name: string, manager: string, force: boolean, object: StoredObject): StoredObject {
    const key = `${plural}/${name}`;
    const managers = this.#applied.get(key) ?? new Map<string, object>();
    for (const [other, theirs] of managers) {
      if (other === manager || force || !conflicts(theirs, object)) continue;
      throw new ApiError(409, 'Conflict', `Apply failed with 1 conflict: conflict with "${other}"`);
    }
    checkObject(plural, object);
    const before = this.#objects.get(key);
    const kept = before ? without(before, managers.get(manager) ?? {}, object) : {};
    const made = this.put(plural, merged(kept, object) as StoredObject);
    this.#applied.set(key, managers.set(manager, structuredClone(object)));
    return made;
  }

  mergePatch(plural: string, name: string, changes: object): StoredObject {
    const before = this.find(plural, name);
    if (!before) throw notFound(plural, name);
    return this.put(plural, merged(before, changes) as StoredObject);
  }

  /** Creates the object, or replaces it when something differs. */
  put(plural: string, object: StoredObject): StoredObject {
    const key = `${plural}/${object.metadata.name}`;
    const before = this.#objects.get(key);
    const { resourceVersion: _, ...metadata } = object.metadata;
    const after: StoredObject = { ...object, metadata };
    if (
      before &&
      isDeepStrictEqual(
        { ...before, metadata: { ...before.metadata, resourceVersion: undefined } },
        { ...after, metadata: { ...metadata, resourceVersion: undefined } },
      )
    ) {
      return before;
    }
    if (before && plural === 'deployments' && !isDeepStrictEqual(before.spec.selector, after.spec.selector)) {
      throw new ApiError(422, 'Invalid', 'spec.selector: Invalid value: field is immutable');
    }
    const isSame = before !== undefined && isDeepStrictEqual(before.spec, after.spec);
    after.metadata = {
      ...metadata,
      uid: before?.metadata.uid ?? randomUUID(),
      creationTimestamp: before?.metadata.creationTimestamp ?? new Date().toISOString(),
      generation: (before?.metadata.generation ?? 0) + (isSame ? 0 : 1),
    };
    if (plural === 'deployments') after.spec = { replicas: 1, ...after.spec };
    if (plural === 'services') after.spec = { clusterIP: '10.96.0.10', ...after.spec };
    this.#store(key, plural, before ? 'MODIFIED' : 'ADDED', after);
    return after;
  }

  remove(plural: string, name: string): void {
    const key = `${plural}/${name}`;
    const object = this.#objects.get(key);
    if (!object) return;
    this.#applied.delete(key);
    this.#store(key, plural, 'DELETED', structuredClone(object));
  }

  #store(key: string, plural: string, type: WatchEvent['type'], object: StoredObject): void {
    this.#version += 1;
    object.metadata.resourceVersion = String(this.#version);
    if (type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, object);
    const event = { type, plural, version: this.#version, object: structuredClone(object) };
    this.#events.push(event);
    for (const listener of this.#listeners) listener(event);
  }
}

export function notFound(plural: string, name: string): ApiError {
  return new ApiError(404, 'NotFound', `${plural} "${name}" not found`);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Replaces lists as a whole, because no two managers share one here. Null removes a field. */
function merged(base: unknown, changes: unknown): unknown {
  if (!isObject(changes)) return structuredClone(changes);
  const result: Record<string, unknown> = isObject(base) ? { ...base } : {};
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

/** Returns the object without fields that were applied before and are not any more. */
function without(object: unknown, applied: object, now: object): Record<string, unknown> {
  const result = { ...(object as Record<string, unknown>) };
  for (const [name, value] of Object.entries(applied)) {
    const next = (now as Record<string, unknown>)[name];
    if (next === undefined) delete result[name];
    else if (isObject(value) && isObject(next)) result[name] = without(result[name], value, next);
  }
  return result;
}

function conflicts(theirs: unknown, ours: unknown): boolean {
  if (!isObject(theirs) || !isObject(ours)) return !isDeepStrictEqual(theirs, ours);
  return Object.entries(ours).some(([name, value]) => name in theirs && conflicts(theirs[name], value));
}
