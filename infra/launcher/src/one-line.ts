/** Returns text that others have made as one line of the terminal: what is no text stays out of it. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}
