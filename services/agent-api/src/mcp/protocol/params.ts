import { type Fields, isFields } from '../../http/fields.ts';
import { invalidParams } from './mcp-error.ts';

/** @throws McpError */
export function requireText(params: Fields, name: string): string {
  const text = optionalText(params, name);
  if (text === undefined) throw invalidParams(`${name} is missing`);
  return text;
}

/** @throws McpError */
export function optionalText(params: Fields, name: string): string | undefined {
  const value = params[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw invalidParams(`${name} must be a text`);
}

/** @throws McpError */
export function optionalFields(params: Fields, name: string): Fields | undefined {
  const value = params[name] ?? undefined;
  if (value === undefined || isFields(value)) return value;
  throw invalidParams(`${name} must be an object`);
}
