import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ChangeOrigin } from './change-origin.ts';

/** An event of a resource. Secrets never belong here: neither their values nor anything that leads to them. */
export interface AuditEntry {
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

/** An entry with its place in the chain of its organization. */
export interface ChainedEvent extends Required<AuditEntry>, ChangeOrigin {
  organizationId: string;
  sequence: bigint;
  id: string;
  occurredAt: Date;
  previousHash: Uint8Array;
}

/** The hash before the first event of an organization. */
export const CHAIN_START = new Uint8Array(32);

/** Returns the SHA-256 of the previous hash and the event in its canonical form (RFC 8785). */
export function hashEvent({ previousHash, occurredAt, sequence, ...event }: ChainedEvent): Uint8Array<ArrayBuffer> {
  const content = { ...event, occurredAt: occurredAt.toISOString(), sequence: String(sequence) };
  const text = canonicalize(JSON.parse(JSON.stringify(content))) as string;
  return new Uint8Array(createHash('sha256').update(previousHash).update(text).digest());
}
