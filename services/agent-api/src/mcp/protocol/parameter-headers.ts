import type { IncomingHttpHeaders } from 'node:http';
import { type Fields, isFields } from '../../http/fields.ts';
import { headerOf } from './client.ts';
import { headerMismatch } from './mcp-error.ts';
import { decodeHeader } from './standard-headers.ts';

/** A parameter of a tool that clients repeat in a header. */
interface RepeatedParameter {
  header: string;
  path: string[];
}

/**
 * Checks the headers `Mcp-Param-…`, which repeat those arguments that the schema of the tool marks with `x-mcp-header`.
 *
 * @throws McpError
 */
export function requireParameterHeaders(schema: Fields, args: Fields, headers: IncomingHttpHeaders): void {
  for (const { header, path } of repeatedParameters(schema)) {
    const value = valueAt(args, path) ?? undefined;
    const given = headerOf(headers, header.toLowerCase());
    if (value === undefined && given === undefined) continue;
    if (value === undefined) throw headerMismatch(`${header} repeats ${path.join('.')}, which is missing`);
    if (given === undefined) throw headerMismatch(`${header} is missing, which repeats ${path.join('.')}`);
    const decoded = decodeHeader(given);
    const isEqual = typeof value === 'number' ? Number(decoded) === value : decoded === String(value);
    if (decoded === undefined || !isEqual) throw headerMismatch(`${header} is not the ${path.join('.')} of the body`);
  }
}

/** Only properties inside of properties count. */
function repeatedParameters({ properties }: Fields, path: string[] = []): RepeatedParameter[] {
  if (!isFields(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isFields(property)) return [];
    const mark = property['x-mcp-header'];
    const own = typeof mark === 'string' ? [{ header: `Mcp-Param-${mark}`, path: [...path, name] }] : [];
    return [...own, ...repeatedParameters(property, [...path, name])];
  });
}

function valueAt(args: Fields, path: string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    args,
  );
}
