import { invalidRequest, unknownClient } from './oauth-error.ts';

/** The public clients that may act for people, and what they are called on pages. None has a secret. */
const CLIENTS = new Map([['langsmith-cli', 'LangSmith CLI']]);

/** Returns a known client. @throws BadRequestError without one, UnauthorizedError for another */
export function requireClient(clientId: string | undefined): string {
  if (!clientId) throw invalidRequest('invalid_request', 'client_id is missing');
  if (!CLIENTS.has(clientId)) throw unknownClient();
  return clientId;
}

export function clientName(clientId: string): string {
  return CLIENTS.get(clientId) ?? clientId;
}
