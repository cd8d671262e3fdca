import { toSqlText } from '@runyard/database';

/** Returns the pattern of ILIKE for texts that contain this one. */
export function containsPattern(text: string): string {
  return `%${escapeLike(text)}%`;
}

/** Returns the pattern of ILIKE for a glob, in which `*` stands for any text. */
export function globPattern(glob: string): string {
  return glob.split('*').map(escapeLike).join('%');
}

/** Returns a text that LIKE takes literally. */
export function escapeLike(text: string): string {
  return toSqlText(text).replaceAll(/[\\%_]/g, (character) => `\\${character}`);
}
