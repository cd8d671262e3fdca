import { randomBytes } from 'node:crypto';
import type { Queries } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import type { OneTimeToken, Prisma } from '../../generated/client.ts';

/** The right that a token gives its holder, once. */
export type TokenPurpose =
  | 'first_administrator'
  | 'reset_password'
  | 'verify_email'
  | 'second_factor'
  | 'passkey'
  | 'authorization_code'
  | 'console_code'
  | 'sign_in_link';

const LIFE_SECONDS: Record<TokenPurpose, number> = {
  first_administrator: 86_400,
  reset_password: 3_600,
  verify_email: 259_200,
  second_factor: 600,
  passkey: 600,
  authorization_code: 60,
  console_code: 60,
  sign_in_link: 86_400,
};

/** Creates a token. @returns its text, which is stored nowhere, and its end */
export async function createToken(
  transaction: Prisma.TransactionClient,
  { purpose, ...token }: { purpose: TokenPurpose; personId?: string; email?: string; details?: Prisma.InputJsonObject },
): Promise<{ token: string; expiresAt: Date }> {
  const text = randomBytes(32).toString('base64url');
  const expiresAt = new Date(Date.now() + LIFE_SECONDS[purpose] * 1000);
  await transaction.oneTimeToken.create({ data: { ...token, purpose, tokenSha256: hashSecret(text), expiresAt } });
  return { token: text, expiresAt };
}

/** Returns a token that still works; null for any other text. */
export async function findToken(queries: Queries, purpose: TokenPurpose, text: string): Promise<OneTimeToken | null> {
  const token = await queries.oneTimeToken.findUnique({ where: { tokenSha256: hashSecret(text) } });
  return token && token.purpose === purpose && !token.usedAt && token.expiresAt.getTime() > Date.now() ? token : null;
}

/** Uses a token up. Of several callers at once one gets it, and the others null. */
export async function useToken(
  transaction: Prisma.TransactionClient,
  purpose: TokenPurpose,
  text: string,
): Promise<OneTimeToken | null> {
  const now = new Date();
  const [token] = await transaction.oneTimeToken.updateManyAndReturn({
    where: { tokenSha256: hashSecret(text), purpose, usedAt: null, expiresAt: { gt: now } },
    data: { usedAt: now },
  });
  return token ?? null;
}
