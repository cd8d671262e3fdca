import type { IncomingHttpHeaders } from 'node:http';
import { HANDOVER_HEADER } from '@runyard/contracts';

/** Where the rest of an answer is found, at any process of the deployment. */
export interface Handover {
  /** Path and query of a GET. */
  path: string;
  /** The event that was sent last; for a stream. */
  afterId?: string | undefined;
}

/** Whoever asks gets the rest of the answer elsewhere when this process has to stop. */
export function takesOver(headers: IncomingHttpHeaders): boolean {
  return headers[HANDOVER_HEADER] !== undefined;
}

/** The request itself asks for the rest of an answer that another process began. */
export function isContinuing(headers: IncomingHttpHeaders): boolean {
  return headers[HANDOVER_HEADER] === 'continued';
}

/** The path with what of the query is given, lists as repeated names. */
export function withQuery(path: string, query: Record<string, string | readonly string[] | undefined>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of value === undefined ? [] : [value].flat()) parameters.append(name, each);
  }
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
