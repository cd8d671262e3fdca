import type { HandlerRequest } from '@runyard/service-kit';
import { mayBeJson } from '../../http/json-content.ts';
import { A2aError } from '../protocol/a2a-error.ts';

/** @throws A2aError for a body that its sender calls something else: forms of pages can send JSON as text */
export function requireJson({ headers, body }: Pick<HandlerRequest, 'headers' | 'body'>): void {
  if (body === undefined || mayBeJson(headers)) return;
  throw new A2aError('CONTENT_TYPE_NOT_SUPPORTED', 'The content of a request must be JSON: application/json');
}
