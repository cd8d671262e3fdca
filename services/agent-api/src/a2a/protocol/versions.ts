import type { IncomingHttpHeaders } from 'node:http';
import { A2aError } from './a2a-error.ts';

/** The version of A2A in whose form an answer is given. */
export type A2aVersion = '1.0' | '0.3';

/** The form of an answer: 0.3 has another one over HTTP than in JSON-RPC. */
export type A2aForm = A2aVersion | '0.3 HTTP';

/**
 * Returns the version that a request names, in its header or its query, by major and minor number; undefined when it
 * names none. @throws A2aError for one that is not spoken here
 */
export function requestedVersion(headers: IncomingHttpHeaders, url: string): A2aVersion | undefined {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const named = String(headers['a2a-version'] ?? (url.includes('?') ? query.get('A2A-Version') : null) ?? '').trim();
  if (named === '') return undefined;
  const [, number] = /^(\d+\.\d+)(?:\.\d+)?$/.exec(named) ?? [];
  if (number === '1.0' || number === '0.3') return number;
  throw new A2aError('VERSION_NOT_SUPPORTED', `Version ${named} of A2A is not supported: 1.0 and 0.3 are`);
}
