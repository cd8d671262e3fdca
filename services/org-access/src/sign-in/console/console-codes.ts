import { createHash } from 'node:crypto';
import { isUuid } from '@runyard/contracts';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import type { Prisma, Session } from '../../generated/client.ts';
import { createToken, useToken } from '../accounts/one-time-tokens.ts';

/** The content of a code before it is used: the session that it stands for, and the challenge of who may use it. */
interface Grant {
  sessionId: string;
  codeChallenge: string;
}

/** The content of a used code: the console token that it opened, as its SHA-256 in base64url. */
interface Opened {
  sessionId: string;
  openedTokenSha256: string;
}

/** The outcome of presenting a code. */
type Redemption =
  | { kind: 'granted'; sessionId: string }
  | { kind: 'refused' }
  /** It was used before: somebody has a copy. */
  | { kind: 'reused'; sessionId: string; tokenSha256: Uint8Array<ArrayBuffer> };

/** Stores that a browser goes to the console with a session. @returns the code, which is stored nowhere */
export async function issueConsoleCode(
  transaction: Prisma.TransactionClient,
  { id: sessionId, personId }: Pick<Session, 'id' | 'personId'>,
  codeChallenge: string,
): Promise<string> {
  const details = { sessionId, codeChallenge } satisfies Grant;
  return (await createToken(transaction, { purpose: 'console_code', personId, details })).token;
}

/** Uses a code up, also with a wrong secret of its challenge. Its person is locked from here on. */
export async function redeemConsoleCode(
  transaction: Prisma.TransactionClient,
  code: string,
  verifier: string,
): Promise<Redemption> {
  const row = { tokenSha256: hashSecret(code) };
  const known = await transaction.oneTimeToken.findUnique({ where: row });
  if (known?.purpose !== 'console_code' || known.personId === null) return { kind: 'refused' };
  await lockPerson(transaction, known.personId);
  const token = await useToken(transaction, 'console_code', code);
  if (!token) return reuseOf((await transaction.oneTimeToken.findUnique({ where: row }))?.details);
  const { sessionId, codeChallenge } = token.details as unknown as Grant;
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  return challenge === codeChallenge ? { kind: 'granted', sessionId } : { kind: 'refused' };
}

/** Notes the console token that a code opened: it ends when the code comes back. */
export async function noteConsoleToken(
  transaction: Prisma.TransactionClient,
  code: string,
  { sessionId, tokenSha256 }: { sessionId: string; tokenSha256: Uint8Array<ArrayBuffer> },
): Promise<void> {
  const details = { sessionId, openedTokenSha256: Buffer.from(tokenSha256).toString('base64url') } satisfies Opened;
  await transaction.oneTimeToken.update({ where: { tokenSha256: hashSecret(code) }, data: { details } });
}

function reuseOf(details: Prisma.JsonValue | undefined): Redemption {
  const { sessionId, openedTokenSha256 } = (details ?? {}) as Partial<Opened>;
  if (!isUuid(sessionId) || typeof openedTokenSha256 !== 'string') return { kind: 'refused' };
  return { kind: 'reused', sessionId, tokenSha256: new Uint8Array(Buffer.from(openedTokenSha256, 'base64url')) };
}
