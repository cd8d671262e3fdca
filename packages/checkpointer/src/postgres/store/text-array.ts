import { toSqlText } from '@runyard/database';

/** A list of texts as Postgres writes it, for a list of lists of different lengths: cast each to `text[]`. */
export function textArray(texts: string[]): string {
  return `{${texts.map((text) => `"${toSqlText(text).replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
