const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** Returns the SQL expression of a text as a `uuid`; NULL for a text that is none, instead of an error. */
export function toUuid(text: string): string {
  return `CASE WHEN ${text} ~ '${UUID}' THEN (${text})::uuid END`;
}
