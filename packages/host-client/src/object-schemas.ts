import type { GraphSchemas } from '@runyard/host-protocol';

/** The JSON Schemas of a graph, in the form that clients know: objects, and null for those that are not known. */
export type ObjectSchemas = { [K in keyof GraphSchemas]: Record<string, unknown> | null };

export function toObjectSchemas(schemas: GraphSchemas): ObjectSchemas {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, toObject(schema)]);
  return Object.fromEntries(entries) as ObjectSchemas;
}

/** JSON Schema also has booleans: `true` for anything, `false` for nothing. */
function toObject(schema: GraphSchemas[keyof GraphSchemas]): Record<string, unknown> | null {
  if (typeof schema !== 'boolean') return schema;
  return schema ? {} : { not: {} };
}
