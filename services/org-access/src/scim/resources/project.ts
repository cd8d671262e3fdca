import { findAttribute, type ResourceType } from '../schemas/resource-type.ts';
import type { ScimObject } from './normalize.ts';

/** `attributes` and `excludedAttributes` of a request, read once for all its resources. */
export interface Projection {
  /** Null: all of them. */
  only: AttributeSelection | null;
  without: AttributeSelection | null;
}

/** By extension (`''` for the resource itself) and name: all of an attribute, or these parts of it. */
type AttributeSelection = Map<string, Map<string, 'all' | Set<string>>>;

/** Reads both lists; names of nothing are ignored, and `attributes` wins over `excludedAttributes`. */
export function readProjection(
  type: ResourceType,
  lists: {
    attributes?: string | readonly string[] | undefined;
    excludedAttributes?: string | readonly string[] | undefined;
  },
): Projection {
  const only = readSelection(type, lists.attributes);
  return { only, without: only ? null : readSelection(type, lists.excludedAttributes) };
}

/** Returns whether an attribute of the resource itself will be in answers, so that it is worth reading. */
export function isWanted({ only, without }: Projection, name: string): boolean {
  if (only) return only.get('')?.has(name) ?? false;
  return without?.get('')?.get(name) !== 'all';
}

/** Returns the parts of a resource that were asked for; `id`, `schemas` and what is always returned stay. */
export function project(type: ResourceType, { only, without }: Projection, resource: ScimObject): ScimObject {
  if (!only && !without) return resource;
  const extensions = new Set(type.extensions.map(({ id }) => id));
  const pick = (object: ScimObject, container: string): ScimObject =>
    Object.fromEntries(
      Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
        if (container === '' && (name === 'id' || name === 'schemas')) return [[name, value]];
        if (container === '' && extensions.has(name)) {
          const picked = pick(value as ScimObject, name);
          return Object.keys(picked).length > 0 ? [[name, picked]] : [];
        }
        const selection = (only ?? without)!.get(container);
        const parts = selection?.get(name) ?? selection?.get('*');
        const isAll = parts === 'all';
        if (only)
          return parts === undefined ? [] : [[name, isAll ? value : pickParts(value, (part) => parts.has(part))]];
        if (parts === undefined) return [[name, value]];
        return isAll ? [] : [[name, pickParts(value, (part) => !parts.has(part))]];
      }),
    );
  return pick(resource, '');
}

function pickParts(value: unknown, isKept: (part: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => pickParts(each, isKept));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).filter(([part]) => isKept(part)));
}

function readSelection(type: ResourceType, list: string | readonly string[] | undefined): AttributeSelection | null {
  const names = (typeof list === 'string' ? list.split(',') : (list ?? [])).map((name) => name.trim()).filter(Boolean);
  if (names.length === 0) return null;
  const selection: AttributeSelection = new Map();
  for (const name of names) {
    const place = findAttribute(type, name);
    if (!place) continue;
    const container = place.extension ?? '';
    const attributes = selection.get(container) ?? new Map<string, 'all' | Set<string>>();
    selection.set(container, attributes);
    const key = place.attribute?.name ?? '*';
    const known = attributes.get(key);
    if (!place.subAttribute) attributes.set(key, 'all');
    else if (known !== 'all') attributes.set(key, new Set([...(known ?? []), place.subAttribute.name]));
  }
  return selection;
}
