import type { AuditEvent } from '@runyard/contracts';
import type { AuditEvent as AuditEventRow } from '../generated/client.ts';

/** An event of a resource. Secrets never belong here: neither their values nor anything that leads to them. */
export interface AuditEntry {
  /** The id of another service's event, so that what it tells is recorded once. Default: a new one. */
  id?: string;
  /** `<resource>.<event in the past>`, for example `member.added`. */
  action: string;
  resourceType: string;
  resourceId: string | null;
  workspaceId?: string | null;
  before?: object | null;
  after?: object | null;
  /** Facts of a decision, for example the step of a sign-in that decided. */
  details?: object | null;
}

/** Returns a stored event as callers and other services see it. */
export function renderEvent(row: AuditEventRow): AuditEvent {
  return {
    id: row.id,
    organization_id: row.organizationId,
    sequence: Number(row.sequence),
    occurred_at: row.occurredAt.toISOString(),
    action: row.action,
    actor_kind: row.actorKind,
    actor_id: row.actorId,
    person_id: row.personId,
    credential_id: row.credentialId,
    address: row.address,
    request_id: row.requestId,
    operation: row.operation,
    request_method: row.requestMethod,
    request_path: row.requestPath,
    resource_type: row.resourceType,
    resource_id: row.resourceId,
    workspace_id: row.workspaceId,
    before: row.before as AuditEvent['before'],
    after: row.after as AuditEvent['after'],
    details: row.details as AuditEvent['details'],
    previous_hash: Buffer.from(row.previousHash).toString('hex'),
    hash: Buffer.from(row.hash).toString('hex'),
  };
}
