import { Prisma } from '../generated/client.ts';

/** Returns whether a unique value was taken: the row exists, or someone else created it meanwhile. */
export function isTaken(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';
}

/** Returns whether the row that a new one refers to was deleted meanwhile. */
export function isParentGone(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2003';
}
