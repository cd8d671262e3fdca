/** The part of a JSON Schema that says which fields may exist. */
interface Shape {
  $ref?: string;
  properties?: Record<string, Shape>;
  patternProperties?: Record<string, Shape>;
  additionalProperties?: boolean | Shape;
  items?: Shape;
  anyOf?: Shape[];
}

/**
 * Returns the paths of the fields of a value that its schema does not name. Schemas of answers are open, so that a
 * newer client accepts an older one's; a field that a service answers beyond them is still a mistake. Below a schema
 * that names no fields all are allowed.
 */
export function findUnknownFields(schema: unknown, value: unknown, path = ''): string[] {
  const shape = (schema ?? {}) as Shape;
  if (value === null || typeof value !== 'object' || shape.$ref !== undefined) return [];
  if (shape.anyOf) {
    const found = shape.anyOf.map((branch) => findUnknownFields(branch, value, path));
    return found.reduce((least, each) => (each.length < least.length ? each : least));
  }
  if (Array.isArray(value))
    return value.flatMap((each, index) => findUnknownFields(shape.items, each, `${path}/${index}`));
  const { properties, patternProperties = {}, additionalProperties } = shape;
  if (!properties) return [];
  const [others] = Object.values(patternProperties);
  const rest = others ?? additionalProperties;
  return Object.entries(value).flatMap(([name, each]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : rest;
    return known === undefined || known === false
      ? [`${path}/${name}`]
      : findUnknownFields(known, each, `${path}/${name}`);
  });
}
