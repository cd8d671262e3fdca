import { toSqlText } from '@runyard/database';

/** Formats a list of texts as a Postgres array, for a list of lists of different lengths: cast each to `text[]`. */
export function textArray(texts: string[]): string {
  return `{${texts.map((text) => `"${toSqlText(text).replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
