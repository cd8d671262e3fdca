const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Threads have uuids: whatever else is asked for does not exist, and Postgres would refuse the question. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
