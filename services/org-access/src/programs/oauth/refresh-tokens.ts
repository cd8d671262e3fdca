import { randomBytes } from 'node:crypto';
import type { Cipher } from '@runyard/encryption';
import { hashSecret } from '../../database/hash-secret.ts';
import type { Prisma, RefreshToken } from '../../generated/client.ts';

const PREFIX = 'ryr_';
/**
 * Milliseconds in which a used token still leads to its successor: several processes of a person share one file of
 * tokens, and an answer may be lost on its way.
 */
const SHARED_MS = 30_000;

/** Tokens of a session that are made within an hour. Programs need one for each access token, which lives for minutes. */
const HOURLY_MAX = 60;
const HOUR_MS = 3_600_000;
/**
 * Tokens of a session that stay, so that whoever presents a used one is found out: those of days for a program that
 * refreshes before each access token expires. Older ones are unknown, and give nothing either.
 */
const KEPT_MAX = 500;

/** The outcome of presenting a refresh token. */
export type Rotation =
  | { kind: 'rotated'; sessionId: string; token: string }
  /** It was used before: somebody has a copy. */
  | { kind: 'reused'; sessionId: string }
  /** It works later: the session had many within the hour. */
  | { kind: 'too_often'; sessionId: string }
  | { kind: 'unknown' };

/** Replaces refresh tokens. All of a session are one family, of which the newest alone works. */
export class RefreshTokens {
  readonly #cipher: Cipher;

  constructor({ cipher }: { cipher: Cipher }) {
    this.#cipher = cipher;
  }

  /** Returns the first token of a session, which is stored nowhere. */
  async begin(transaction: Prisma.TransactionClient, sessionId: string): Promise<string> {
    const token = PREFIX + randomBytes(32).toString('base64url');
    await transaction.refreshToken.create({ data: { tokenSha256: hashSecret(token), sessionId } });
    return token;
  }

  /**
   * Returns the successor of a token. The same one for all who present the token within half a minute, as long as nobody
   * has used the successor: so the family has one end, and whoever is left behind is found out.
   */
  async rotate(transaction: Prisma.TransactionClient, text: string, clientId: string): Promise<Rotation> {
    const tokenSha256 = hashSecret(text);
    const found = await lockFamily(transaction, tokenSha256, clientId);
    if (!found) return { kind: 'unknown' };
    const { sessionId } = found;
    const place = placeOf(found);
    if (found.usedAt === null) {
      if (await hasManyOfLate(transaction, sessionId)) return { kind: 'too_often', sessionId };
      const token = await this.begin(transaction, sessionId);
      await transaction.refreshToken.update({
        where: { tokenSha256 },
        data: { usedAt: new Date(), encryptedSuccessor: this.#cipher.encrypt(token, place) },
      });
      await dropOldest(transaction, sessionId);
      return { kind: 'rotated', sessionId, token };
    }
    const successor = found.encryptedSuccessor && this.#cipher.decrypt(found.encryptedSuccessor, place);
    const isShared = successor !== null && found.usedAt.getTime() > Date.now() - SHARED_MS;
    const next = isShared
      ? await transaction.refreshToken.findUnique({ where: { tokenSha256: hashSecret(successor) } })
      : null;
    return next && next.usedAt === null && successor
      ? { kind: 'rotated', sessionId, token: successor }
      : { kind: 'reused', sessionId };
  }

  /** Returns the session of a token, used or not. */
  async findSession(transaction: Prisma.TransactionClient, text: string): Promise<string | null> {
    const found = await transaction.refreshToken.findUnique({ where: { tokenSha256: hashSecret(text) } });
    return found?.sessionId ?? null;
  }
}

/** Finds a token, and makes others of its session wait: none is used twice. */
async function lockFamily(
  transaction: Prisma.TransactionClient,
  tokenSha256: Uint8Array<ArrayBuffer>,
  clientId: string,
): Promise<RefreshToken | null> {
  const sessions = await transaction.$queryRaw<unknown[]>`
    SELECT session.id FROM session JOIN refresh_token ON refresh_token.session_id = session.id
    WHERE refresh_token.token_sha256 = ${tokenSha256} AND session.client_id = ${clientId}
    FOR UPDATE OF session`;
  return sessions.length === 0 ? null : transaction.refreshToken.findUnique({ where: { tokenSha256 } });
}

async function hasManyOfLate(transaction: Prisma.TransactionClient, sessionId: string): Promise<boolean> {
  const createdAt = { gt: new Date(Date.now() - HOUR_MS) };
  return (await transaction.refreshToken.count({ where: { sessionId, createdAt } })) >= HOURLY_MAX;
}

async function dropOldest(transaction: Prisma.TransactionClient, sessionId: string): Promise<void> {
  await transaction.$executeRaw`
    DELETE FROM refresh_token WHERE session_id = ${sessionId}::uuid AND created_at <= (
      SELECT created_at FROM refresh_token WHERE session_id = ${sessionId}::uuid
      ORDER BY created_at DESC OFFSET ${KEPT_MAX} LIMIT 1)`;
}

const placeOf = ({ sessionId, tokenSha256 }: RefreshToken) =>
  `refresh_token/${sessionId}/${Buffer.from(tokenSha256).toString('hex')}/successor`;
