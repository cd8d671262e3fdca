/** Settings of a session by name, in milliseconds. */
export type SessionSettings = Readonly<Record<string, number>>;

/** Matches the statement that begins a transaction, which may be the first of several. */
const BEGIN = /^\s*BEGIN\b[^;]*/i;

export function isBegin(text: string): boolean {
  return BEGIN.test(text);
}

/** Returns the text with the settings set for its transaction. Those that the text sets itself win. */
export function setInTransaction(text: string, settings: SessionSettings): string {
  const statements = Object.entries(settings).map(([name, value]) => `; SET LOCAL ${name} = ${value}`);
  return text.replace(BEGIN, (begin) => begin + statements.join(''));
}
