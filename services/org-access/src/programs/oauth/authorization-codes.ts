import { createHash } from 'node:crypto';
import { isUuid } from '@runyard/contracts';
import type { Queries } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import type { OneTimeToken, Prisma } from '../../generated/client.ts';
import { createToken, useToken } from '../../sign-in/accounts/one-time-tokens.ts';
import type { AuthorizationRequest } from './authorization-requests.ts';
import type { McpServer } from './mcp-servers.ts';

/** The right that a person gave a client, kept with the code for it. */
interface Grant {
  clientId: string;
  redirectUri: string;
  codeChallenge: string;
  /** The browser's session that allowed it. */
  sessionId: string;
  server: McpServer;
}

/** The outcome of presenting a code. */
export type Redemption =
  | { kind: 'granted'; sessionId: string; server: McpServer; tokenSha256: Uint8Array<ArrayBuffer> }
  | { kind: 'refused'; reason: string }
  /** It was used before: somebody has a copy. */
  | { kind: 'reused'; openedSessionId: string | null };

/** Stores that a person lets a client use an MCP server. @returns the code, which is stored nowhere */
export async function issueCode(
  transaction: Prisma.TransactionClient,
  { client, redirectUri, codeChallenge }: AuthorizationRequest,
  { sessionId, personId, server }: { sessionId: string; personId: string; server: McpServer },
): Promise<string> {
  const grant: Grant = { clientId: client.id, redirectUri, codeChallenge, sessionId, server };
  const details = grant as unknown as Prisma.InputJsonObject;
  return (await createToken(transaction, { purpose: 'authorization_code', personId, details })).token;
}

/**
 * Uses a code up. It counts for the client that asked alone, and only with the secret of its challenge: a wrong one uses
 * it up too.
 */
export async function redeemCode(
  transaction: Prisma.TransactionClient,
  code: string,
  { clientId, redirectUri, verifier }: { clientId: string; redirectUri: string | undefined; verifier: string },
): Promise<Redemption> {
  const token = await useToken(transaction, 'authorization_code', code);
  if (!token) return findReuse(transaction, code);
  const grant = grantOf(token);
  const refuse = (reason: string): Redemption => ({ kind: 'refused', reason });
  if (grant.clientId !== clientId) return refuse('The code is of another client');
  if (redirectUri !== undefined && redirectUri !== grant.redirectUri) return refuse('The redirect_uri is another one');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  if (challenge !== grant.codeChallenge) return refuse('The code_verifier does not fit the code_challenge');
  const { sessionId, server } = grant;
  return { kind: 'granted', sessionId, server, tokenSha256: hashSecret(code) };
}

/** Notes the session that a code opened: it ends when the code comes back. */
export async function noteOpenedSession(
  transaction: Prisma.TransactionClient,
  { tokenSha256 }: Redemption & { kind: 'granted' },
  openedSessionId: string,
): Promise<void> {
  await transaction.oneTimeToken.update({ where: { tokenSha256 }, data: { details: { openedSessionId } } });
}

async function findReuse(queries: Queries, code: string): Promise<Redemption> {
  const token = await queries.oneTimeToken.findUnique({ where: { tokenSha256: hashSecret(code) } });
  const { openedSessionId } = (token?.details ?? {}) as { openedSessionId?: unknown };
  const isOfCode = token?.purpose === 'authorization_code' && token.usedAt !== null;
  if (!isOfCode) return { kind: 'refused', reason: 'The code does not work (any more): begin again' };
  return { kind: 'reused', openedSessionId: isUuid(openedSessionId) ? openedSessionId : null };
}

function grantOf({ details }: OneTimeToken): Grant {
  return details as unknown as Grant;
}
