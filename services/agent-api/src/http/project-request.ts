import type { IncomingMessage } from 'node:http';
import { requestBaseUrl } from './base-url.ts';
import { PLATFORM_HEADERS } from './platform-headers.ts';

/** A request as handlers of the project see it: without its body. */
export interface ProjectRequest {
  method: string;
  /** The URL by which the client reached the server. The path stays as it was sent. */
  url: string;
  /** Names and values; a name may occur more than once. */
  headers: [name: string, value: string][];
}

/** Describes a request for handlers of the project. */
export function projectRequestOf({ method = 'GET', headers, rawHeaders, url = '/' }: IncomingMessage): ProjectRequest {
  return {
    method,
    url: `${requestBaseUrl(headers)}${url.startsWith('/') ? url : `/${url}`}`,
    headers: pairsOf(rawHeaders).filter(([name]) => !PLATFORM_HEADERS.has(name.toLowerCase())),
  };
}

function pairsOf(rawHeaders: string[]): [string, string][] {
  return rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] as string]] : [],
  );
}
