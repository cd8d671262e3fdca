// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the character Postgres refuses.
const REFUSED = /\u0000|\p{Surrogate}/u;
const EVERY_REFUSED = new RegExp(REFUSED, 'gu');

/** Text as Postgres can hold it: U+0000 and lone surrogates become U+FFFD. */
export function toSqlText(text: string): string {
  return REFUSED.test(text) ? text.replace(EVERY_REFUSED, '\uFFFD') : text;
}

/**
 * JSON text that `jsonb` takes: the escapes of U+0000 and of lone surrogates are valid JSON and refused by Postgres, so they
 * become U+FFFD, in keys too. The value itself is left as it is; `undefined` becomes `null`.
 */
export function toSqlJson(value: unknown): string {
  const json = JSON.stringify(value) ?? 'null';
  if (!/\\u(?:0000|d[89a-f])/i.test(json)) return json;
  return JSON.stringify(cleaned(JSON.parse(json)));
}

/** A JSON value as Postgres can hold it, its texts in columns of their own or all of it as `jsonb`. */
export function toSqlValue<Value>(value: Value): Value {
  return cleaned(value) as Value;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return toSqlText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [toSqlText(key), cleaned(inner)]));
}
