import type { AuditEvent, AuditLogFilters } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { InvalidFieldError } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { renderEvent } from './audit-event.ts';

/** Events in memory at once while a whole trail is read, and bytes of their content: some events name thousands of members. */
const BATCH = 500;
const BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Reads a page, the newest first. It ends early where its events are large.
 *
 * @throws InvalidFieldError for a cursor that no page gave
 */
export async function readPage(
  queries: Queries,
  organizationId: string,
  filters: AuditLogFilters,
  page: { limit: number; cursor: string | undefined },
): Promise<{ items: AuditEvent[]; cursor: string | null }> {
  const before = page.cursor === undefined ? undefined : parseCursor(page.cursor);
  const where = { AND: [whereOf(organizationId, filters), before === undefined ? {} : { sequence: { lt: before } }] };
  const { events, hasMore } = await readSome(queries, organizationId, { where, order: 'desc', max: page.limit });
  return { items: events, cursor: hasMore ? formatCursor(events.at(-1)!.sequence) : null };
}

/** Reads all events between two positions (the first excluded, the last included), the oldest first, in batches. */
export async function* readEvents(
  queries: Queries,
  organizationId: string,
  { filters = {}, after, upTo }: { filters?: AuditLogFilters; after: number; upTo: number },
): AsyncGenerator<AuditEvent[]> {
  for (let last = after; last < upTo; ) {
    const where = { AND: [whereOf(organizationId, filters), { sequence: { gt: last, lte: upTo } }] };
    const { events } = await readSome(queries, organizationId, { where, order: 'asc', max: BATCH });
    if (events.length === 0) return;
    yield events;
    last = events.at(-1)!.sequence;
  }
}

/** Reads the first events, as many as there is room for in memory, but at least one, and whether there are more. */
async function readSome(
  queries: Queries,
  organizationId: string,
  { where, order, max }: { where: Prisma.AuditEventWhereInput; order: 'asc' | 'desc'; max: number },
): Promise<{ events: AuditEvent[]; hasMore: boolean }> {
  const found = await queries.auditEvent.findMany({
    where,
    orderBy: { sequence: order },
    take: max + 1,
    select: { sequence: true },
  });
  const sequences = found.slice(0, max).map(({ sequence }) => sequence);
  const sizes = await queries.$queryRaw<{ sequence: bigint; bytes: bigint }[]>`
    SELECT sequence, coalesce(octet_length(before::text), 0)::bigint + coalesce(octet_length(after::text), 0)
      + coalesce(octet_length(details::text), 0) AS bytes
    FROM audit_event WHERE organization_id = ${organizationId}::uuid AND sequence = ANY(${sequences})`;
  const sizeOf = new Map(sizes.map(({ sequence, bytes }) => [sequence, Number(bytes)]));
  let total = 0;
  const fitting = sequences.filter((sequence, index) => {
    total += sizeOf.get(sequence) ?? 0;
    return index === 0 || total <= BATCH_BYTES;
  });
  const rows = await queries.auditEvent.findMany({
    where: { organizationId, sequence: { in: fitting } },
    orderBy: { sequence: order },
  });
  return { events: rows.map(renderEvent), hasMore: fitting.length < found.length };
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
