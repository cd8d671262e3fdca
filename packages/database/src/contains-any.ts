/**
 * Returns the SQL condition that a `jsonb` contains one of the objects in a `jsonb` list. Both are SQL expressions. It is
 * for statements over many rows, each with a list of its own.
 */
export function containsAny(document: string, alternatives: string): string {
  return `EXISTS (SELECT FROM jsonb_array_elements(${alternatives}) AS alternative (part) WHERE ${document} @> alternative.part)`;
}
