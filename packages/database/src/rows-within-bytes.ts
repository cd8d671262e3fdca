/** Rows with the bytes that they have together, at rest. There are none where they have more than could be read. */
export interface SizedRows<Row> {
  bytes: number;
  rows: Row[];
}

type SizedRow<Row> = Row & { totalBytes: number; place: string | null };

/**
 * The three parts of a statement around a list, a SELECT with LIMIT, and around the bytes that may be read: it reads all
 * rows of the list, or none where they have more. Values that are stored apart are not read then but one by one, by
 * `bytesOfRow`.
 *
 * @param bytesOfRow SQL of the columns of a row. Sizes of `jsonb` are those of its text: stored it may be compressed
 */
export function rowsWithinBytes(bytesOfRow: string): [before: string, between: string, after: string] {
  return [
    `WITH page AS MATERIALIZED (
       SELECT found.*, (${bytesOfRow})::float8 AS bytes, row_number() OVER () AS place FROM (`,
    `) AS found
     ), total AS (SELECT coalesce(sum(bytes), 0) AS bytes FROM page)
     SELECT page.*, total.bytes AS "totalBytes" FROM total LEFT JOIN page ON total.bytes <= `,
    '::float8 ORDER BY page.place',
  ];
}

/** Returns what such a statement has read. */
export function toSizedRows<Row>(rows: SizedRow<Row>[]): SizedRows<Row> {
  return { bytes: rows[0]?.totalBytes ?? 0, rows: rows.filter(({ place }) => place !== null) };
}
