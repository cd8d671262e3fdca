/** A key as it is. The empty text is a key too. */
export function KeyText({ text }: { text: string }) {
  return text.trim() === '' ? <code>{JSON.stringify(text)}</code> : text;
}
