import { v7 as uuidv7 } from 'uuid';
import { Prisma } from '../generated/client.ts';
import { type AuditEntry, CHAIN_START, type ChainedEvent, hashEvent } from './audit-event.ts';
import { changeOrigin } from './change-origin.ts';

/** Collects what a transaction changes. */
export interface AuditRecorder {
  record(organizationId: string, entry: AuditEntry): void;
}

/**
 * Makes the work of a transaction leave its audit events, in that transaction and as its last step: the chain of an
 * organization is locked from then until the commit.
 */
export function audited<Result>(
  work: (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<Result>,
): (transaction: Prisma.TransactionClient) => Promise<Result> {
  return async (transaction) => {
    const entries = new Map<string, AuditEntry[]>();
    const result = await work(transaction, {
      record(organizationId, entry) {
        entries.set(organizationId, [...(entries.get(organizationId) ?? []), entry]);
      },
    });
    // In the order of ids, so that two transactions with several chains never wait for each other.
    for (const organizationId of [...entries.keys()].sort()) {
      await appendToChain(transaction, organizationId, entries.get(organizationId)!);
    }
    return result;
  };
}

async function appendToChain(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  entries: AuditEntry[],
): Promise<void> {
  const head = await lockHead(transaction, organizationId);
  let { sequence, hash: previousHash } = head;
  const occurredAt = new Date();
  const events = entries.map((entry) => {
    sequence += 1n;
    const event: ChainedEvent = {
      workspaceId: null,
      before: null,
      after: null,
      details: null,
      ...entry,
      ...changeOrigin(),
      organizationId,
      sequence,
      id: uuidv7(),
      occurredAt,
      previousHash,
    };
    const hash = hashEvent(event);
    previousHash = hash;
    return { ...event, hash };
  });
  await transaction.auditEvent.createMany({
    data: events.map(({ before, after, details, previousHash: previous, ...event }) => ({
      ...event,
      before: toJson(before),
      after: toJson(after),
      details: toJson(details),
      previousHash: new Uint8Array(previous),
    })),
  });
  await transaction.auditHead.update({
    where: { organizationId },
    data: { sequence, hash: new Uint8Array(previousHash) },
  });
}

async function lockHead(
  transaction: Prisma.TransactionClient,
  organizationId: string,
): Promise<{ sequence: bigint; hash: Uint8Array }> {
  await transaction.$executeRaw`
    INSERT INTO audit_head (organization_id, sequence, hash) VALUES (${organizationId}::uuid, 0, ${Buffer.from(CHAIN_START)})
    ON CONFLICT DO NOTHING`;
  const [head] = await transaction.$queryRaw<{ sequence: bigint; hash: Uint8Array }[]>`
    SELECT sequence, hash FROM audit_head WHERE organization_id = ${organizationId}::uuid FOR UPDATE`;
  return head!;
}

function toJson(value: object | null): Prisma.InputJsonValue | typeof Prisma.DbNull {
  return value === null ? Prisma.DbNull : (value as Prisma.InputJsonObject);
}
