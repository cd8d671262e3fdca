import type { Attribute } from '../schemas/attribute.ts';
import { attributesOf, findNamed, type ResourceType } from '../schemas/resource-type.ts';
import { badRequest } from '../scim-error.ts';

/** A resource or a complex value, with the names of its schema. */
export type ScimObject = Record<string, unknown>;

const TEXT_MAX = 16_384;
/** Values of one attribute. Members of groups are none. */
const VALUES_MAX = 200;

/**
 * Returns a resource as its schemas say: names in their own case, unknown and read-only attributes left out, booleans
 * that came as texts as booleans.
 *
 * @throws BadRequestError for a value of the wrong type
 */
export function normalizeResource(type: ResourceType, input: ScimObject): ScimObject {
  const resource = normalizeObject(attributesOf(type), input, '');
  for (const { id, attributes } of type.extensions) {
    const given = Object.entries(input).find(([key]) => key.toLowerCase() === id.toLowerCase())?.[1];
    if (given === undefined || given === null) continue;
    const extension = normalizeObject(attributes, asObject(given, id), `${id}:`);
    if (Object.keys(extension).length > 0) resource[id] = extension;
  }
  return resource;
}

/** Checks that a body names the schema of its resource. @throws BadRequestError */
export function requireSchema(body: ScimObject, schema: string): void {
  const schemas = Object.entries(body).find(([key]) => key.toLowerCase() === 'schemas')?.[1];
  const isNamed =
    Array.isArray(schemas) &&
    schemas.some((each) => typeof each === 'string' && each.toLowerCase() === schema.toLowerCase());
  if (!isNamed) throw badRequest('invalidSyntax', `schemas must contain ${schema}`);
}

/** Returns one value of an attribute, or a list of them; undefined: nothing is left. @throws BadRequestError */
export function normalizeValue(definition: Attribute, value: unknown, place: string): unknown {
  // Its default would let a disabled person in.
  if (value === null && definition.required && definition.type === 'boolean')
    throw badRequest('invalidValue', `${place} must be true or false`);
  if (value === null || value === undefined) return undefined;
  if (!definition.multiValued) return normalizeSingle(definition, value, place);
  requireFewValues(value, place);
  const values = (Array.isArray(value) ? value : [value])
    .map((each, index) => normalizeSingle(definition, each, `${place}[${index}]`))
    .filter((each) => each !== undefined);
  const primaries = values.filter((each) => (each as ScimObject).primary === true);
  if (primaries.length > 1) throw badRequest('invalidValue', `${place}: more than one value is primary`);
  return values.length > 0 ? values : undefined;
}

/** @throws BadRequestError for a list of more values than anybody has */
export function requireFewValues(value: unknown, place: string): void {
  if (Array.isArray(value) && value.length > VALUES_MAX)
    throw badRequest('invalidValue', `${place} has more than ${VALUES_MAX} values`);
}

function normalizeObject(attributes: readonly Attribute[], input: ScimObject, prefix: string): ScimObject {
  const object: ScimObject = {};
  for (const [key, value] of Object.entries(input)) {
    const definition = findNamed(attributes, key);
    if (!definition || definition.mutability === 'readOnly') continue;
    const normal = normalizeValue(definition, value, prefix + definition.name);
    if (normal !== undefined) object[definition.name] = normal;
  }
  return object;
}

function normalizeSingle(definition: Attribute, value: unknown, place: string): unknown {
  if (value === null || value === undefined) return undefined;
  if (definition.type === 'complex') return normalizeComplex(definition, value, place);
  if (definition.type === 'boolean') return toBoolean(value, place);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw badRequest('invalidValue', `${place} must be a text`);
  return checkText(value, place);
}

function normalizeComplex(definition: Attribute, value: unknown, place: string): ScimObject | undefined {
  const subAttributes = definition.subAttributes ?? [];
  // Identity providers send the id of a manager, or an address, without an object around it.
  const isBare = typeof value === 'string' && findNamed(subAttributes, 'value') !== undefined;
  const object = normalizeObject(subAttributes, isBare ? { value } : asObject(value, place), `${place}.`);
  return Object.keys(object).length > 0 ? object : undefined;
}

function asObject(value: unknown, place: string): ScimObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as ScimObject;
  throw badRequest('invalidValue', `${place} must be an object`);
}

function toBoolean(value: unknown, place: string): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (text === 'true' || text === 'false') return text === 'true';
  throw badRequest('invalidValue', `${place} must be true or false`);
}

/** Refuses what the database cannot store. @throws BadRequestError */
export function checkText(text: string, place: string): string {
  if (text.length > TEXT_MAX) throw badRequest('invalidValue', `${place} is longer than ${TEXT_MAX} characters`);
  if (/\p{Surrogate}/u.test(text) || text.includes('\0')) {
    throw badRequest('invalidValue', `${place} has characters that cannot be stored`);
  }
  return text;
}
