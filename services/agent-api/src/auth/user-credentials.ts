import type { IncomingMessage } from 'node:http';

/** Variables from which clients of the SDK take the key that they send unasked. */
const KEY_VARIABLES = ['LANGGRAPH_API_KEY', 'LANGSMITH_API_KEY', 'LANGCHAIN_API_KEY'];

/**
 * Returns a function that says of requests whether they have credentials by which a project may know a user. The
 * deployment's own key is none: clients in the project's code send it with everything.
 *
 * @param environment the variables of the project's code
 */
export function hasUserCredentials(
  environment: Record<string, string | undefined>,
): (req: Pick<IncomingMessage, 'headers'>) => boolean {
  const ownKeys = new Set(KEY_VARIABLES.map((name) => keyOf(environment[name])));
  return ({ headers: { authorization, cookie, 'x-api-key': key } }) =>
    authorization !== undefined || cookie !== undefined || (key !== undefined && !ownKeys.has(String(key)));
}

/** Returns a key as clients of the SDK send it: without a quotation mark at either end. */
function keyOf(value: string | undefined): string | undefined {
  return value?.trim().replace(/^["']|["']$/g, '');
}
