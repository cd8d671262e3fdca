import type { IncomingHttpHeaders } from 'node:http';
import { invalidRequest } from './mcp-error.ts';

/** The forms of an answer that a client takes. */
export interface Accepted {
  json: boolean;
  events: boolean;
}

/** A request that names no form takes every one. @throws McpError */
export function readAccept({ accept = '*/*' }: IncomingHttpHeaders): Accepted {
  const types = accept.split(',').map((part) => part.split(';')[0]!.trim().toLowerCase());
  const takes = (...names: string[]) => types.some((type) => names.includes(type));
  const accepted = {
    json: takes('application/json', 'application/*', '*/*'),
    events: takes('text/event-stream', 'text/*', '*/*'),
  };
  if (accepted.json || accepted.events) return accepted;
  throw invalidRequest('Accept must name application/json or text/event-stream');
}
