// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the character Postgres refuses.
const REFUSED = /\u0000|\p{Surrogate}/u;
const EVERY_REFUSED = new RegExp(REFUSED, 'gu');

/** Returns text that Postgres accepts: U+0000 and lone surrogates become U+FFFD. */
export function toSqlText(text: string): string {
  return REFUSED.test(text) ? text.replace(EVERY_REFUSED, '\uFFFD') : text;
}

/**
 * Returns JSON text that `jsonb` accepts: the escapes of U+0000 and of lone surrogates are valid JSON and refused by
 * Postgres, so they become U+FFFD, in keys too. The value itself stays unchanged; `undefined` becomes `null`.
 */
export function toSqlJson(value: unknown): string {
  const json = JSON.stringify(value) ?? 'null';
  if (!/\\u(?:0000|d[89a-f])/i.test(json)) return json;
  return JSON.stringify(replaceRefused(JSON.parse(json)));
}

/** Returns a JSON value that Postgres accepts, its texts in separate columns or all of it as `jsonb`. */
export function toSqlValue<Value>(value: Value): Value {
  return replaceRefused(value) as Value;
}

function replaceRefused(value: unknown): unknown {
  if (typeof value === 'string') return toSqlText(value);
  if (Array.isArray(value)) return value.map(replaceRefused);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [toSqlText(key), replaceRefused(inner)]));
}
