/** Returns SQL for the text of a time, in ISO 8601 to the microsecond: a `Date` would cut it off at the millisecond. */
export function isoTime(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')`;
}
