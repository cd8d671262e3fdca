import { randomBytes, randomInt } from 'node:crypto';
import { changeOrigin } from '../../audit/change-origin.ts';
import type { Queries } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import type { DeviceAuthorization, Prisma } from '../../generated/client.ts';

export const DEVICE_CODE_SECONDS = 600;
export const POLL_SECONDS = 5;
const SLOWER_SECONDS = 5;
/** Letters that make no words and are not mistaken for others: 20 of them, 8 times, for ten minutes. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

/** The answer to a program that asks whether it may act. */
export type DeviceOutcome =
  | { kind: 'allowed'; sessionId: string; authorization: DeviceAuthorization }
  | { kind: 'unknown' | 'expired' | 'denied' | 'pending' | 'too_fast' };

/** Stores that a program asks to act for a person. @returns the secrets, which are stored nowhere */
export async function beginDevice(
  queries: Queries,
  clientId: string,
  userAgent: string | null,
): Promise<{ deviceCode: string; userCode: string }> {
  const deviceCode = randomBytes(32).toString('base64url');
  const letters = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  await queries.deviceAuthorization.create({
    data: {
      deviceCodeSha256: hashSecret(deviceCode),
      userCodeSha256: hashSecret(letters),
      clientId,
      address: changeOrigin().address,
      userAgent: userAgent?.slice(0, 500) ?? null,
      intervalSeconds: POLL_SECONDS,
      expiresAt: new Date(Date.now() + DEVICE_CODE_SECONDS * 1000),
    },
  });
  return { deviceCode, userCode: `${letters.slice(0, 4)}-${letters.slice(4)}` };
}

/** Returns the question of a code that a person entered, in whatever case and with or without the dash. */
export function findUnansweredDevice(queries: Queries, userCode: string): Promise<DeviceAuthorization | null> {
  return queries.deviceAuthorization.findFirst({ where: unanswered(userCode) });
}

/** Answers a question. @param allowedBySessionId null: the person refuses. @returns null when it is answered already */
export async function answerDevice(
  transaction: Prisma.TransactionClient,
  userCode: string,
  allowedBySessionId: string | null,
): Promise<DeviceAuthorization | null> {
  const [answered] = await transaction.deviceAuthorization.updateManyAndReturn({
    where: unanswered(userCode),
    data: allowedBySessionId === null ? { deniedAt: new Date() } : { allowedBySessionId },
  });
  return answered ?? null;
}

/** Says what a program may know now, and uses up what was allowed. */
export async function pollDevice(
  transaction: Prisma.TransactionClient,
  deviceCode: string,
  clientId: string,
): Promise<DeviceOutcome> {
  const deviceCodeSha256 = hashSecret(deviceCode);
  await transaction.$queryRaw`
    SELECT 1 FROM device_authorization WHERE device_code_sha256 = ${deviceCodeSha256} FOR UPDATE`;
  const found = await transaction.deviceAuthorization.findUnique({ where: { deviceCodeSha256 } });
  if (!found || found.clientId !== clientId || found.usedAt) return { kind: 'unknown' };
  if (found.expiresAt.getTime() <= Date.now()) return { kind: 'expired' };
  if (found.deniedAt) return { kind: 'denied' };
  const { allowedBySessionId: sessionId, intervalSeconds, lastPolledAt } = found;
  const now = new Date();
  if (sessionId !== null) {
    await transaction.deviceAuthorization.update({ where: { deviceCodeSha256 }, data: { usedAt: now } });
    return { kind: 'allowed', sessionId, authorization: found };
  }
  // A second is given: clocks and networks are not exact.
  const isTooFast = lastPolledAt !== null && now.getTime() - lastPolledAt.getTime() < (intervalSeconds - 1) * 1000;
  await transaction.deviceAuthorization.update({
    where: { deviceCodeSha256 },
    data: { lastPolledAt: now, ...(isTooFast && { intervalSeconds: intervalSeconds + SLOWER_SECONDS }) },
  });
  return { kind: isTooFast ? 'too_fast' : 'pending' };
}

function unanswered(userCode: string): Prisma.DeviceAuthorizationWhereInput {
  const letters = userCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return {
    userCodeSha256: hashSecret(letters),
    allowedBySessionId: null,
    deniedAt: null,
    usedAt: null,
    expiresAt: { gt: new Date() },
  };
}
