import { CHAIN_START, hashEvent } from '@runyard/audit-chain';
import { type AuditEvent, AuditEventRecorded, type CloudEvent, TOPICS } from '@runyard/contracts';
import { toSqlJson, toSqlText } from '@runyard/database';
import { makeEvent } from '@runyard/event-bus';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../generated/client.ts';
import type { AuditEntry } from './audit-event.ts';
import { type ChangeOrigin, changeOrigin } from './change-origin.ts';

/** Collects what a transaction changes. */
export interface AuditRecorder {
  record(organizationId: string, entry: AuditEntry): void;
}

/**
 * Makes the work of a transaction leave its audit events, in that transaction and as its last step: the chain of an
 * organization is locked from then until the commit. It takes two queries, however many events there are.
 */
export function audited<Result>(
  work: (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<Result>,
): (transaction: Prisma.TransactionClient) => Promise<Result> {
  return async (transaction) => {
    const entries = new Map<string, RecordedEntry[]>();
    const result = await work(transaction, {
      record(organizationId, entry) {
        const recorded = { entry, origin: changeOrigin() };
        entries.set(organizationId, [...(entries.get(organizationId) ?? []), recorded]);
      },
    });
    // In the order of ids, so that two transactions with several chains never wait for each other.
    for (const organizationId of [...entries.keys()].sort()) {
      await appendToChain(transaction, organizationId, entries.get(organizationId)!);
    }
    return result;
  };
}

/** An entry with the origin of its change, which may differ within a transaction: somebody signs in in the middle. */
interface RecordedEntry {
  entry: AuditEntry;
  origin: ChangeOrigin;
}

async function appendToChain(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  entries: RecordedEntry[],
): Promise<void> {
  const head = await lockHead(transaction, organizationId);
  let { sequence, hash } = head;
  const events = entries.map((recorded) => {
    sequence += 1;
    const event = makeAuditEvent(organizationId, recorded, { sequence, previousHash: hash, occurredAt: head.at });
    hash = event.hash;
    return event;
  });
  const published = events.map((event) => ({
    ...makeEvent(AuditEventRecorded, {
      source: '/runyard/org-access',
      subject: organizationId,
      data: toPublished(event),
    }),
    id: event.id,
    time: event.occurred_at,
  }));
  await insert(transaction, events, published);
}

/** Bytes of an event that the event bus carries in any case: brokers take 1 MB at once. */
const PUBLISHED_BYTES_MAX = 256 * 1024;

/** Returns an event as it is published: one that is too large for the bus without its content, which is in the trail. */
function toPublished(event: AuditEvent): AuditEvent {
  const bytes = Buffer.byteLength(JSON.stringify(event));
  if (bytes <= PUBLISHED_BYTES_MAX) return event;
  return { ...event, before: null, after: null, details: { left_out_bytes: bytes } };
}

function makeAuditEvent(
  organizationId: string,
  { entry, origin }: RecordedEntry,
  place: { sequence: number; previousHash: string; occurredAt: Date },
): AuditEvent {
  const event = {
    id: entry.id ?? uuidv7(),
    organization_id: organizationId,
    sequence: place.sequence,
    occurred_at: place.occurredAt.toISOString(),
    action: entry.action,
    actor_kind: origin.actorKind,
    actor_id: origin.actorId,
    person_id: origin.personId,
    credential_id: origin.credentialId,
    address: origin.address,
    request_id: origin.requestId,
    operation: origin.operation,
    request_method: origin.requestMethod,
    request_path: origin.requestPath,
    resource_type: entry.resourceType,
    resource_id: entry.resourceId === null ? null : toSqlText(entry.resourceId),
    workspace_id: entry.workspaceId ?? null,
    before: toStoredJson(entry.before),
    after: toStoredJson(entry.after),
    details: toStoredJson(entry.details),
    previous_hash: place.previousHash,
  };
  return { ...event, hash: hashEvent(event) };
}

/** Returns the value as it comes back from `jsonb`, so that it has the same hash before and after. */
function toStoredJson(value: object | null | undefined): Record<string, unknown> | null {
  return value ? (JSON.parse(toSqlJson(value)) as Record<string, unknown>) : null;
}

interface Head {
  sequence: number;
  hash: string;
  /** The database's time while the lock is held: it does not go back from one event to the next. */
  at: Date;
}

async function lockHead(transaction: Prisma.TransactionClient, organizationId: string): Promise<Head> {
  const [head] = await transaction.$queryRaw<{ sequence: bigint; hash: Uint8Array; at: Date }[]>`
    WITH head AS (
      SELECT sequence, hash FROM audit_head WHERE organization_id = ${organizationId}::uuid FOR UPDATE
    )
    SELECT sequence, hash, clock_timestamp() AS at FROM head`;
  if (head) return { sequence: Number(head.sequence), hash: Buffer.from(head.hash).toString('hex'), at: head.at };
  await transaction.$executeRaw`
    INSERT INTO audit_head (organization_id, sequence, hash)
    VALUES (${organizationId}::uuid, 0, decode(${CHAIN_START}, 'hex')) ON CONFLICT DO NOTHING`;
  return lockHead(transaction, organizationId);
}

async function insert(
  transaction: Prisma.TransactionClient,
  events: AuditEvent[],
  published: CloudEvent[],
): Promise<void> {
  const last = events.at(-1)!;
  await transaction.$executeRaw`
    WITH added AS (
      INSERT INTO audit_event (organization_id, sequence, id, occurred_at, action, actor_kind, actor_id, person_id,
        credential_id, address, request_id, operation, request_method, request_path, resource_type, resource_id,
        workspace_id, before, after, details, previous_hash, hash)
      SELECT organization_id, sequence, id, occurred_at, action, actor_kind, actor_id, person_id,
        credential_id, address, request_id, operation, request_method, request_path, resource_type, resource_id,
        workspace_id, before, after, details, decode(previous_hash, 'hex'), decode(hash, 'hex')
      FROM jsonb_to_recordset(${JSON.stringify(events)}::jsonb) AS event (organization_id uuid, sequence bigint, id uuid,
        occurred_at timestamptz, action text, actor_kind text, actor_id uuid, person_id uuid, credential_id uuid,
        address text, request_id text, operation text, request_method text, request_path text, resource_type text,
        resource_id text, workspace_id uuid, before jsonb, after jsonb, details jsonb, previous_hash text, hash text)
    ), head AS (
      UPDATE audit_head SET sequence = ${last.sequence}, hash = decode(${last.hash}, 'hex')
      WHERE organization_id = ${last.organization_id}::uuid
    )
    INSERT INTO outbox (topic, key, event)
    SELECT ${TOPICS.audit.name}, ${last.organization_id}, event
    FROM jsonb_array_elements(${JSON.stringify(published)}::jsonb) WITH ORDINALITY AS row (event, position)
    ORDER BY position`;
}
