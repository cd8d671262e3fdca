import type { AuditEvent, AuditLogFilters } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { InvalidFieldError } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { renderEvent } from './audit-event.ts';

/** Events in memory at once while a whole trail is read. */
const BATCH = 500;

/** Reads a page, the newest first. @throws InvalidFieldError for a cursor that no page gave */
export async function readPage(
  queries: Queries,
  organizationId: string,
  filters: AuditLogFilters,
  page: { limit: number; cursor: string | undefined },
): Promise<{ items: AuditEvent[]; cursor: string | null }> {
  const before = page.cursor === undefined ? undefined : parseCursor(page.cursor);
  const rows = await queries.auditEvent.findMany({
    where: { AND: [whereOf(organizationId, filters), before === undefined ? {} : { sequence: { lt: before } }] },
    orderBy: { sequence: 'desc' },
    take: page.limit + 1,
  });
  const items = rows.slice(0, page.limit).map(renderEvent);
  const isLast = rows.length <= page.limit;
  return { items, cursor: isLast ? null : formatCursor(items.at(-1)!.sequence) };
}

/** Reads all events between two positions (the first excluded, the last included), the oldest first, in batches. */
export async function* readEvents(
  queries: Queries,
  organizationId: string,
  { filters = {}, after, upTo }: { filters?: AuditLogFilters; after: number; upTo: number },
): AsyncGenerator<AuditEvent[]> {
  for (let last = after; last < upTo; ) {
    const rows = await queries.auditEvent.findMany({
      where: { AND: [whereOf(organizationId, filters), { sequence: { gt: last, lte: upTo } }] },
      orderBy: { sequence: 'asc' },
      take: BATCH,
    });
    if (rows.length === 0) return;
    yield rows.map(renderEvent);
    last = Number(rows.at(-1)!.sequence);
  }
}

function whereOf(organizationId: string, filters: AuditLogFilters): Prisma.AuditEventWhereInput {
  const { start_time, end_time, action, operation, resource_type, resource_id } = filters;
  const [actorId, workspaceId] = [filters.actor_id?.toLowerCase(), filters.workspace_id?.toLowerCase()];
  const oneOf = (names: string[] | undefined) => (names ? { in: names.map(toSqlText) } : undefined);
  return {
    organizationId,
    occurredAt: { gte: start_time && new Date(start_time), lte: end_time && new Date(end_time) },
    action: oneOf(action),
    operation: oneOf(operation),
    resourceType: oneOf(resource_type),
    resourceId: resource_id === undefined ? undefined : toSqlText(resource_id),
    workspaceId,
    ...(actorId && { OR: [{ actorId }, { personId: actorId }] }),
  };
}

/** The form in which LangSmith's audit log has its cursors. */
function formatCursor(sequence: number): string {
  return Buffer.from(JSON.stringify({ sequence })).toString('base64url');
}

function parseCursor(text: string): number {
  try {
    const { sequence } = JSON.parse(Buffer.from(text, 'base64url').toString()) as { sequence: unknown };
    if (Number.isSafeInteger(sequence)) return sequence as number;
  } catch {
    // It is answered like every other cursor of nobody.
  }
  throw new InvalidFieldError(['query', 'cursor'], 'It is not a cursor of this list.');
}
