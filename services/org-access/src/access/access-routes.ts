import { explainAccess as explainAccessOperations } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { PrismaClient } from '../generated/client.ts';
import { explainAccess } from './explain-access.ts';

/** Serves explanations of permissions. */
export function accessRoutes({ prisma }: { prisma: PrismaClient }): BoundOperation[] {
  return explainAccessOperations.map((operation) =>
    bind(operation, async ({ caller, query }) => ok(await explainAccess(prisma, caller, query))),
  );
}
