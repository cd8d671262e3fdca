import { matchesValue } from '../filter/match-value.ts';
import { type Filter, parsePath } from '../filter/parse-filter.ts';
import type { Attribute } from '../schemas/attribute.ts';
import { type AttributePlace, findAttribute, type ResourceType } from '../schemas/resource-type.ts';
import { badRequest } from '../scim-error.ts';
import { normalizeResource, normalizeValue, requireFewValues, type ScimObject } from './normalize.ts';
import type { PatchOperation } from './patch-request.ts';

/** Changes of one PATCH, and comparisons in the filters of their paths: each is made with every value of a list. */
const CHANGES_MAX = 200;
const COMPARISONS_MAX = 500;

/**
 * Returns a resource after the operations of a PATCH (RFC 7644 §3.5.2), also in the forms that identity providers send:
 * names with dots as keys of a value without a path, and replacement of a value that does not exist yet.
 *
 * @throws BadRequestError, and then nothing of the resource was changed
 */
export function applyPatch(
  type: ResourceType,
  resource: ScimObject,
  operations: readonly PatchOperation[],
): ScimObject {
  const changes = readChanges(type, operations);
  const patched = structuredClone(resource);
  for (const change of changes) apply(patched, change);
  return normalizeResource(type, patched);
}

type Op = PatchOperation['op'];

/** A change of one attribute, of a part of it, or of a whole extension. */
interface Change {
  op: Op;
  place: AttributePlace;
  filter: Filter | null;
  value: unknown;
}

/** Reads operations as changes of one place each. One that costs more than its bytes is refused before it is begun. */
function readChanges(type: ResourceType, operations: readonly PatchOperation[]): Change[] {
  const changes: Change[] = [];
  let comparisons = 0;
  const add = (op: Op, text: string, value: unknown): void => {
    const { path, filter, subAttribute, comparisons: own } = parsePath(text);
    const place = findAttribute(type, subAttribute === null ? path : `${path}.${subAttribute}`);
    if (!place) throw badRequest('invalidPath', `There is no attribute ${text.slice(0, 200)}`);
    if (place.attribute === null && op !== 'remove') {
      addExtension(op, place.extension!, value);
      return;
    }
    // A value of null is none (RFC 7643, 2.5), so that it removes.
    if (place.attribute !== null) assertChangeable(place, value === null ? 'remove' : op, filter);
    comparisons += own;
    changes.push({ op, place, filter, value });
    if (changes.length > CHANGES_MAX) throw badRequest('tooMany', `More than ${CHANGES_MAX} changes`);
    if (comparisons > COMPARISONS_MAX) throw badRequest('tooMany', `More than ${COMPARISONS_MAX} comparisons in paths`);
  };
  const addExtension = (op: Op, urn: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw badRequest('invalidValue', `${urn} must be an object`);
    for (const [key, each] of Object.entries(value))
      if (findAttribute(type, `${urn}:${key}`)) add(op, `${urn}:${key}`, each);
  };
  for (const { op, path, value } of operations) {
    if (path !== null) {
      add(op, path, value);
      continue;
    }
    for (const [key, each] of Object.entries(value as ScimObject)) {
      // Unknown and read-only names are ignored, as in a whole resource: clients send `id` and `schemas` along.
      const place = findAttribute(type, key.replace(/\[[^[]*\]/, ''));
      if (place && place.attribute?.mutability !== 'readOnly') add(op, key, each);
    }
  }
  return changes;
}

function apply(resource: ScimObject, { op, place, filter, value }: Change): void {
  const { extension, attribute, subAttribute } = place;
  if (attribute === null) {
    delete resource[extension!];
    return;
  }
  const holder = holderOf(resource, extension);
  if (filter) applyToValues(holder, place, op, filter, value);
  else if (subAttribute) applyToSubAttribute(holder, place, op, value);
  else applyToAttribute(holder, attribute, op, value);
  requireFewValues(holder[attribute.name], attribute.name);
}

function assertChangeable({ attribute, subAttribute }: AttributePlace, op: Op, filter: Filter | null): void {
  const isReadOnly = attribute!.mutability === 'readOnly' || subAttribute?.mutability === 'readOnly';
  if (isReadOnly) throw badRequest('mutability', `${attribute!.name} is read-only`);
  if (op === 'remove' && attribute!.required && !filter && !subAttribute) {
    throw badRequest('mutability', `${attribute!.name} is required`);
  }
  if (filter && !(attribute!.multiValued && attribute!.type === 'complex')) {
    throw badRequest('invalidPath', `${attribute!.name} is no list of values`);
  }
}

function holderOf(resource: ScimObject, extension: string | null): ScimObject {
  if (extension === null) return resource;
  resource[extension] ??= {};
  return resource[extension] as ScimObject;
}

function applyToAttribute(holder: ScimObject, attribute: Attribute, op: Op, value: unknown): void {
  const { name } = attribute;
  const current = holder[name];
  const given = normalizeValue(attribute, value, name);
  if (op === 'remove') {
    if (attribute.multiValued && Array.isArray(given)) holder[name] = without(current, given as ScimObject[]);
    else delete holder[name];
  } else if (attribute.multiValued) {
    holder[name] = op === 'replace' ? given : append((current ?? []) as ScimObject[], (given ?? []) as ScimObject[]);
  } else if (attribute.type === 'complex' && given !== undefined) {
    holder[name] = { ...(current as ScimObject | undefined), ...(given as ScimObject) };
  } else {
    holder[name] = given;
  }
}

function applyToSubAttribute(
  holder: ScimObject,
  { attribute, subAttribute }: AttributePlace,
  op: Op,
  value: unknown,
): void {
  const { name, multiValued } = attribute!;
  const given = normalizeValue(subAttribute!, value, `${name}.${subAttribute!.name}`);
  if (!multiValued) {
    holder[name] = withSubAttribute((holder[name] ?? {}) as ScimObject, subAttribute!.name, op, given);
    return;
  }
  const values = (holder[name] ?? []) as ScimObject[];
  const changed = values.length === 0 && op !== 'remove' ? [{}] : values;
  holder[name] = changed.map((each) => withSubAttribute(each, subAttribute!.name, op, given));
}

function applyToValues(holder: ScimObject, place: AttributePlace, op: Op, filter: Filter, value: unknown): void {
  const attribute = place.attribute!;
  const { subAttribute } = place;
  const values = (holder[attribute.name] ?? []) as ScimObject[];
  const isMatch = values.map((each) => matchesValue(filter, each));
  if (op === 'remove') {
    holder[attribute.name] = subAttribute
      ? values.map((each, index) => (isMatch[index] ? withSubAttribute(each, subAttribute.name, op, undefined) : each))
      : values.filter((_, index) => !isMatch[index]);
    return;
  }
  const change = (each: ScimObject): ScimObject => {
    if (subAttribute) {
      const given = normalizeValue(subAttribute, value, `${attribute.name}.${subAttribute.name}`);
      return withSubAttribute(each, subAttribute.name, op, given);
    }
    const [given] = (normalizeValue(attribute, value, attribute.name) ?? []) as ScimObject[];
    return op === 'replace' ? { ...given } : { ...each, ...given };
  };
  const changed = isMatch.includes(true)
    ? values.map((each, index) => (isMatch[index] ? change(each) : each))
    : [...values, { ...newValueFor(filter), ...change(newValueFor(filter)) }];
  holder[attribute.name] = withOnePrimary(values, changed);
}

/** Builds the value that a filter of equalities describes. @throws BadRequestError `noTarget` for any other filter */
function newValueFor(filter: Filter): ScimObject {
  if (filter.kind === 'and') return Object.assign({}, ...filter.filters.map(newValueFor));
  if (filter.kind === 'comparison' && filter.operator === 'eq') return { [filter.path]: filter.value };
  throw badRequest('noTarget', 'No value matches the filter of the path');
}

function withSubAttribute(object: ScimObject, name: string, op: Op, value: unknown): ScimObject {
  const { [name]: _, ...others } = object;
  return op === 'remove' || value === undefined ? others : { ...others, [name]: value };
}

/** Adds values that are not there yet. */
function append(current: ScimObject[], added: ScimObject[]): ScimObject[] {
  const known = new Set(current.map(textOf));
  return withOnePrimary(current, [...current, ...added.filter((each) => !known.has(textOf(each)))]);
}

/** Returns the same text for equal values, whose parts are texts and booleans. */
function textOf(value: ScimObject): string {
  return JSON.stringify(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** When a value becomes the primary one, it takes the mark from the value that had it. */
function withOnePrimary(before: ScimObject[], after: ScimObject[]): ScimObject[] {
  const primaries = after.filter(({ primary }) => primary === true);
  if (primaries.length < 2) return after;
  const old = new Set(before.filter(({ primary }) => primary === true));
  return after.map((each) => (old.has(each) ? { ...each, primary: false } : each));
}

/** A value is named by its `value` where it has one. */
function without(current: unknown, removed: ScimObject[]): unknown {
  const named = new Set<unknown>(removed.flatMap(({ value }) => (value === undefined ? [] : [value])));
  const whole = new Set(removed.filter(({ value }) => value === undefined).map(textOf));
  return ((current ?? []) as ScimObject[]).filter((each) => !named.has(each.value) && !whole.has(textOf(each)));
}
