export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Schema = { [key: string]: Json };

/** The content of a schema, with references followed and alternatives merged. */
export interface Shape {
  /** Each property with every schema that some alternative gives it. */
  properties: Map<string, Schema[]>;
  /** Properties that all alternatives require. */
  required: Set<string>;
  items: Schema[];
  /** Undefined for any type. */
  types: Set<string> | undefined;
  /** Undefined where the values are not listed. */
  values: Set<string> | undefined;
}

/** @param root the document that references in the schema point into */
export function describeShape(schema: Schema, root: Schema): Shape {
  const target = resolveReference(schema, root);
  const own = ownShape(target);
  const all = list(target.allOf).map((part) => describeShape(part, root));
  const alternatives = [...list(target.anyOf), ...list(target.oneOf)].map((part) => describeShape(part, root));
  return both([own, ...all, ...(alternatives.length > 0 ? [either(alternatives)] : [])]);
}

function ownShape(schema: Schema): Shape {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  return {
    properties: new Map(properties.map(([name, property]) => [name, [property]])),
    required: new Set((schema.required ?? []) as string[]),
    items: schema.items && !Array.isArray(schema.items) ? [schema.items as Schema] : [],
    types: schema.type === undefined ? undefined : new Set([schema.type].flat() as string[]),
    values: values === undefined ? undefined : new Set((values as Json[]).map((value) => JSON.stringify(value))),
  };
}

function both(shapes: Shape[]): Shape {
  return {
    properties: mergedProperties(shapes),
    required: new Set(shapes.flatMap(({ required }) => [...required])),
    items: different(shapes.flatMap(({ items }) => items)),
    types: shapes.map(({ types }) => types).find((types) => types !== undefined),
    values: shapes.map(({ values }) => values).find((values) => values !== undefined),
  };
}

function either(shapes: Shape[]): Shape {
  const [first, ...others] = shapes.map(({ required }) => required);
  return {
    properties: mergedProperties(shapes),
    required: new Set([...(first ?? [])].filter((name) => others.every((required) => required.has(name)))),
    items: different(shapes.flatMap(({ items }) => items)),
    types: union(shapes.map(({ types }) => types)),
    values: union(shapes.map(({ values }) => values)),
  };
}

function mergedProperties(shapes: Shape[]): Map<string, Schema[]> {
  const merged = new Map<string, Schema[]>();
  for (const { properties } of shapes) {
    for (const [name, schemas] of properties) merged.set(name, different([...(merged.get(name) ?? []), ...schemas]));
  }
  return merged;
}

/** Returns each schema once: one that contains itself would otherwise come twice as often at every level. */
function different(schemas: Schema[]): Schema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

/** Returns undefined, which means anything, as soon as one of them is undefined. */
function union(sets: (Set<string> | undefined)[]): Set<string> | undefined {
  if (sets.some((set) => set === undefined)) return undefined;
  return new Set(sets.flatMap((set) => [...(set ?? [])]));
}

/** Follows `#/components/…`, as often as one reference leads to the next. */
export function resolveReference(schema: Schema, root: Schema): Schema {
  let target = schema;
  while (typeof target.$ref === 'string') {
    const names = target.$ref.replace(/^#\//, '').split('/');
    target = names.reduce<Schema>((at, name) => {
      const key = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
      return (at[key] ?? {}) as Schema;
    }, root);
  }
  return target;
}

function list(value: Json | undefined): Schema[] {
  return (value ?? []) as Schema[];
}
