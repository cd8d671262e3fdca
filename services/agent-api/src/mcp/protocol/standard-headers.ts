import type { IncomingHttpHeaders } from 'node:http';
import { headerOf } from './client.ts';
import type { RequestFrame } from './frame.ts';
import { headerMismatch } from './mcp-error.ts';

/** The parameter that `Mcp-Name` repeats, by method. */
const NAMES: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Base64 with its padding: what lacks it may have lost more. */
const ENCODED = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

/**
 * Checks that the headers of a request of the new revision say what its body says: others may have routed by them.
 *
 * @throws McpError
 */
export function requireStandardHeaders({ method, params }: RequestFrame, headers: IncomingHttpHeaders): void {
  const named = headerOf(headers, 'mcp-method');
  if (named !== method) throw headerMismatch(`Mcp-Method is ${named ?? 'missing'}, and the method ${method}`);
  const source = Object.hasOwn(NAMES, method) ? NAMES[method]! : undefined;
  const value = source === undefined ? undefined : params[source];
  if (typeof value !== 'string') return;
  const name = headerOf(headers, 'mcp-name');
  if (name === undefined) throw headerMismatch(`Mcp-Name is missing, which repeats ${source}`);
  if (decodeHeader(name) !== value) throw headerMismatch(`Mcp-Name is not the ${source} of the body`);
}

/** Returns the value that a header stands for; undefined when its base64 is none. */
export function decodeHeader(value: string): string | undefined {
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value;
  const [, encoded] = ENCODED.exec(value) ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
}
