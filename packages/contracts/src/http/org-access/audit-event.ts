import Type, { type Static } from 'typebox';
import { JsonObject } from '../../json-object.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';

/** SHA-256 in hexadecimal digits. */
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });

/**
 * A change or a decision in an organization. `hash` is the SHA-256 of the bytes of `previous_hash` and the canonical JSON
 * (RFC 8785) of the event without `previous_hash`, `hash` and fields that are null.
 */
export const AuditEvent = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    sequence: Type.Integer({ minimum: 1, description: 'Position in the chain of the organization, without gaps.' }),
    occurred_at: Timestamp,
    action: Type.String({ description: 'For example `member.added`.' }),
    actor_kind: Type.String({
      description:
        '`service_key`, `personal_token`, `session`, `person`, `scim`, `internal` (a service or the operator of the platform), `anonymous` or `system`.',
    }),
    actor_id: Nullable(Type.String({ format: 'uuid', description: 'The identity; the person for `person`.' })),
    person_id: Nullable(Type.String({ format: 'uuid', description: 'The person behind the identity.' })),
    credential_id: Nullable(
      Type.String({ format: 'uuid', description: 'The key, session or SCIM token that was used.' }),
    ),
    address: Nullable(Type.String({ description: 'The address of the client.' })),
    request_id: Nullable(Type.String()),
    operation: Nullable(Type.String({ description: 'Its operationId; null for what the platform does itself.' })),
    request_method: Nullable(Type.String()),
    request_path: Nullable(Type.String({ description: 'With placeholders: values in paths may be secret.' })),
    resource_type: Type.String(),
    resource_id: Nullable(Type.String()),
    workspace_id: Nullable(Uuid),
    before: Nullable(JsonObject),
    after: Nullable(JsonObject),
    details: Nullable(JsonObject),
    previous_hash: Digest,
    hash: Digest,
  },
  { $id: 'AuditEvent' },
);
export type AuditEvent = Static<typeof AuditEvent>;

export const exampleAuditEvent: AuditEvent = {
  id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c001',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  sequence: 42,
  occurred_at: '2026-11-20T12:00:00.000Z',
  action: 'workspace.created',
  actor_kind: 'session',
  actor_id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c002',
  person_id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c003',
  credential_id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c004',
  address: '192.0.2.7',
  request_id: '5b1f3c7e-5d0c-4a55-9f0e-0d4f2f6d2a10',
  operation: 'createWorkspace',
  request_method: 'POST',
  request_path: '/api/v1/workspaces',
  resource_type: 'workspace',
  resource_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
  workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
  before: null,
  after: { display_name: 'Research' },
  details: null,
  previous_hash: '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8',
  hash: 'a1d0c6e83f027327d8461063f4ac58a6f1b4e6b1c0d5e1b2f7a3c9d8e7f60512',
};
