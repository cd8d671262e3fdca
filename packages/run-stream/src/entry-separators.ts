/**
 * The characters between the fields of an entry, and between the entries of one publication. Valid JSON never contains
 * them, so nothing is escaped or parsed on the way.
 */
export const UNIT = '\u001f';
export const RECORD = '\u001e';

export function hasSeparator(text: string): boolean {
  return text.includes(UNIT) || text.includes(RECORD);
}
