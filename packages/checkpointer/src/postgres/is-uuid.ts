const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Returns whether the text can be a thread id. Threads have uuids: any other id does not exist, and Postgres would
 * refuse the query.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
