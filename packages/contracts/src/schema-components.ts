/** Keywords whose value is data and not a schema. */
export const LITERAL_KEYWORDS: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'example', 'examples']);
/** Keywords whose value maps the author's names to schemas. */
export const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs']);

/**
 * Converts a schema to plain JSON for a document. Each part with an `$id` is defined once in `components` and referred
 * to elsewhere. Two different schemas with one `$id` are an error.
 */
export function hoistSchemas(schema: unknown, components: Record<string, unknown>, prefix: string): unknown {
  if (Array.isArray(schema)) return schema.map((item) => hoistSchemas(item, components, prefix));
  if (schema === null || typeof schema !== 'object') return schema;
  const { $id, $defs, ...rest } = schema as Record<string, unknown>;
  // A recursive schema keeps its definitions under their own names.
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, unknown>)) {
    define(name, { ...(definition as object), $id: undefined }, components, prefix);
  }
  if (typeof $id === 'string') {
    define($id, rest, components, prefix);
    return { $ref: prefix + $id };
  }
  return walk(rest, components, prefix);
}

function define(name: string, schema: object, components: Record<string, unknown>, prefix: string): void {
  const known = components[name];
  if (known === RESERVED) return;
  if (known === undefined) components[name] = RESERVED;
  const walked = walk(schema, components, prefix);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(walked)) {
    throw new Error(`Two different schemas are named ${name}`);
  }
  components[name] = walked;
}

/** Marks a component that is being made, so that recursion ends. */
const RESERVED = {};

function walk(schema: object, components: Record<string, unknown>, prefix: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    if (key === '$ref' && typeof value === 'string' && !value.startsWith('#')) copy[key] = prefix + value;
    else if (LITERAL_KEYWORDS.has(key)) copy[key] = value;
    else if (NAMED_SCHEMAS.has(key)) {
      copy[key] = Object.fromEntries(
        Object.entries(value as object).map(([name, each]) => [name, hoistSchemas(each, components, prefix)]),
      );
    } else copy[key] = hoistSchemas(value, components, prefix);
  }
  return copy;
}
