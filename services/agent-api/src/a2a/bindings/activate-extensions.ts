import type { HandlerRequest } from '@runyard/service-kit';
import { HISTORY_SCOPE_EXTENSION } from '../protocol/history-scope.ts';

/** The header of 1.0, and that of 0.3. */
const HEADERS = ['a2a-extensions', 'x-a2a-extensions'];

/** Reports the extensions of a request that count for its answer, in the header by which they were asked for. */
export function activateExtensions({ headers, res }: Pick<HandlerRequest, 'headers' | 'res'>): void {
  for (const name of HEADERS) {
    const asked = String(headers[name] ?? '').split(',');
    if (asked.some((uri) => uri.trim() === HISTORY_SCOPE_EXTENSION)) res.setHeader(name, HISTORY_SCOPE_EXTENSION);
  }
}
