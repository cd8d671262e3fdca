import { CliError } from '../cli-error.ts';

export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws CliError that names the request */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CliError(`${what} was answered with something other than JSON.`, undefined, { cause });
  }
}
