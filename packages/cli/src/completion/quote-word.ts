/**
 * Returns a text as one word of bash, zsh and fish. In single quotes they differ about a backslash and an apostrophe:
 * the one is left out, the other becomes a typographic one.
 */
export function quoteWord(text: string): string {
  return `'${text.replaceAll('\\', '').replaceAll("'", '’')}'`;
}
