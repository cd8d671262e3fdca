import { randomBytes } from 'node:crypto';
import type { Cipher } from '@runyard/encryption';
import { hashSecret } from '../database/hash-secret.ts';
import type { Prisma, RefreshToken } from '../generated/client.ts';

const PREFIX = 'ryr_';
/**
 * Milliseconds in which a used token still leads to its successor: several processes of a person share one file of
 * tokens, and an answer may be lost on its way.
 */
const SHARED_MS = 30_000;

/** The outcome of presenting a refresh token. */
export type Rotation =
  | { kind: 'rotated'; sessionId: string; token: string }
  /** It was used before: somebody has a copy. */
  | { kind: 'reused'; sessionId: string }
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
      const token = await this.begin(transaction, sessionId);
      await transaction.refreshToken.update({
        where: { tokenSha256 },
        data: { usedAt: new Date(), encryptedSuccessor: this.#cipher.encrypt(token, place) },
      });
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

const placeOf = ({ sessionId, tokenSha256 }: RefreshToken) =>
  `refresh_token/${sessionId}/${Buffer.from(tokenSha256).toString('hex')}/successor`;
