import type { Operation } from '@runyard/contracts';

type Schema = Record<string, unknown>;

/**
 * Returns every field that a request of the operation may have, as paths: `query.limit`, `header.prefer`,
 * `body.config.tags`, `body.supersteps[].updates[].as_node`. It descends into objects and lists with declared fields;
 * where a value may be of several kinds, such as one name or a list of objects, it ends at the field itself.
 */
export function requestFields(operation: Operation): string[] {
  return [
    ...Object.keys(operation.query?.properties ?? {}).map((name) => `query.${name}`),
    ...Object.keys(operation.headers ?? {}).map((name) => `header.${name}`),
    ...(operation.body ? fieldsBelow(operation.body as Schema, 'body', []) : []),
  ];
}

function fieldsBelow(schema: Schema, path: string, above: Schema[]): string[] {
  if (above.includes(schema)) return [];
  const inside = [...above, schema];
  const branches = ((schema.anyOf ?? schema.allOf) as Schema[] | undefined)?.filter(({ type }) => type !== 'null');
  if (branches) {
    const kinds = new Set(branches.map(({ type }) => type));
    if (kinds.size > 1) return [];
    return [...new Set(branches.flatMap((branch) => fieldsBelow(branch, path, inside)))];
  }
  if (schema.type === 'array') return fieldsBelow((schema.items ?? {}) as Schema, `${path}[]`, inside);
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>).flatMap(([name, field]) => [
    `${path}.${name}`,
    ...fieldsBelow(field, `${path}.${name}`, inside),
  ]);
}
