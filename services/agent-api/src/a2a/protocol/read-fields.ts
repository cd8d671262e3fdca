import { type Fields, isFields } from '../../http/fields.ts';
import { invalidParams } from './a2a-error.ts';

/** @throws A2aError */
export function requireFields(value: unknown, place: string): Fields {
  if (isFields(value)) return value;
  throw invalidParams(place, 'must be an object');
}

/** Returns the fields with names in camel case: clients may send either. What the fields hold stays as it is. */
export function camelKeys(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
      value,
    ]),
  );
}

/** Returns a field that is a text; undefined when it is missing or empty. @throws A2aError */
export function optionalText(fields: Fields, name: string, place: string): string | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw invalidParams(`${place}.${name}`, 'must be a text');
}

/** Returns a field that is a list of texts; undefined when it is missing. @throws A2aError */
export function optionalTexts(fields: Fields, name: string, place: string): string[] | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw invalidParams(`${place}.${name}`, 'must be a list of texts');
  const wrong = value.findIndex((entry) => typeof entry !== 'string');
  if (wrong >= 0) throw invalidParams(`${place}.${name}[${wrong}]`, 'must be a text');
  return value as string[];
}

/** @throws A2aError */
export function requireText(fields: Fields, name: string, place = 'params'): string {
  const text = optionalText(fields, name, place);
  if (text === undefined) throw invalidParams(`${place}.${name}`, 'is missing');
  return text;
}

/** Returns a whole number; a text of digits counts, as queries have it. @throws A2aError */
export function optionalInteger(
  fields: Fields,
  name: string,
  { minimum, maximum = Number.MAX_SAFE_INTEGER }: { minimum: number; maximum?: number },
): number | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined || value === '') return undefined;
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= minimum && number <= maximum)
    return number;
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  throw invalidParams(name, `must be a whole number ${range}`);
}

/** Years have four digits there, and the one before the first is none of Postgres. */
const RFC_3339 = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

/** Returns a time as RFC 3339 has it, in UTC. @throws A2aError */
export function optionalTime(fields: Fields, name: string): string | undefined {
  const text = optionalText(fields, name, 'params');
  if (text === undefined) return undefined;
  const time = RFC_3339.test(text) ? new Date(text) : new Date(Number.NaN);
  // An offset may lead out of the years.
  const year = time.getUTCFullYear();
  if (year >= 1 && year <= 9999) return time.toISOString();
  throw invalidParams(name, 'must be a time as RFC 3339 has it');
}

/** Returns a boolean; `true` and `false` as texts count, as queries have them. @throws A2aError */
export function optionalBoolean(fields: Fields, name: string): boolean | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined || value === '') return undefined;
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw invalidParams(name, 'must be true or false');
}
