import { once } from 'node:events';
import { exportAuditLogs, getAuditLogs, listAuditLogs, verifyAuditLogs } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { PrismaClient } from '../generated/client.ts';
import type { AuditKeys } from './audit-keys.ts';
import { readEvents, readPage } from './audit-log.ts';
import { operationOfName, toOcsf } from './ocsf.ts';
import { verifyChain } from './verify-chain.ts';

/** Serves the audit trail of the caller's organization. */
export function auditRoutes({ prisma, keys }: { prisma: PrismaClient; keys: AuditKeys }): BoundOperation[] {
  return [
    ...listAuditLogs.map((operation) =>
      bind(operation, async ({ caller, query: { limit = 100, cursor, ...filters } }) =>
        ok(await readPage(prisma, caller.organizationId, filters, { limit, cursor })),
      ),
    ),
    bind(getAuditLogs, async ({ caller, query: { limit = 10, cursor, operations, ...filters } }) => {
      const operation = operations?.map(operationOfName);
      const page = await readPage(prisma, caller.organizationId, { ...filters, operation }, { limit, cursor });
      return ok({ items: page.items.map(toOcsf), cursor: page.cursor });
    }),
    ...exportAuditLogs.map((operation) =>
      bind(operation, async ({ caller, query: filters, res, signal }) => {
        const { organizationId } = caller;
        const head = await prisma.auditHead.findUnique({ where: { organizationId } });
        const range = { filters, after: 0, upTo: Number(head?.sequence ?? 0) };
        res.writeHead(200, { 'content-type': 'application/x-ndjson' });
        for await (const events of readEvents(prisma, organizationId, range)) {
          signal.throwIfAborted();
          const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
          // No more is read than the client takes.
          if (!res.write(lines)) await once(res, 'drain', { signal });
        }
        res.end();
      }),
    ),
    ...verifyAuditLogs.map((operation) =>
      bind(operation, async ({ caller, query, signal }) =>
        ok(await verifyChain(prisma, keys, caller.organizationId, { earlier: query.checkpoint, signal })),
      ),
    ),
  ];
}
