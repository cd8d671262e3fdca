import { stripVTControlCharacters } from 'node:util';

/** Characters that a terminal obeys, or that make it show others in another order. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;

/** Returns text of others as one line that a terminal only shows. */
export function toPlainLine(text: string): string {
  return withoutControl(text).trim();
}

/** Returns text of others with its lines, which a terminal only shows. */
export function toPlainText(text: string): string {
  return text.split('\n').map(withoutControl).join('\n');
}

function withoutControl(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROL, ' ');
}
