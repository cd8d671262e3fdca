import type { IncomingHttpHeaders } from 'node:http';
import { HANDOFF_HEADER } from '@runyard/contracts';

/** Returns whether the requester fetches the rest of the answer elsewhere when this process has to stop. */
export function acceptsHandoff(headers: IncomingHttpHeaders): boolean {
  return headers[HANDOFF_HEADER] !== undefined;
}

/** Returns whether the request continues an answer that another process began. */
export function isContinuing(headers: IncomingHttpHeaders): boolean {
  return headers[HANDOFF_HEADER] === 'continued';
}

/** Appends the parameters that are set to the path, lists as repeated names. */
export function withQuery(path: string, query: Record<string, string | readonly string[] | undefined>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of value === undefined ? [] : [value].flat()) parameters.append(name, each);
  }
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
