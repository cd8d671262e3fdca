/** Characters that JSON may have as they are, and a terminal obeys. */
const UNESCAPED = /[\u007f-\u009f\u2028\u2029]/g;

/** Returns a value of others as one line of JSON that a terminal only shows. */
export function toJsonLine(value: unknown): string {
  return escapeControl(JSON.stringify(value));
}

/** Escapes what a terminal obeys in valid JSON, where it stands in texts alone. */
export function escapeControl(json: string): string {
  return json.replace(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
