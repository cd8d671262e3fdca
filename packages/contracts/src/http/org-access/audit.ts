import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { AuditEvent, exampleAuditEvent } from './audit-event.ts';
import { OcsfApiActivity } from './ocsf.ts';
import { ORGANIZATION_PREFIXES } from './paths.ts';
import { ForbiddenResponse, InvalidResponse, UnauthorizedResponse } from './responses.ts';

const ID_LENGTH_MAX = 200;
const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: ID_LENGTH_MAX }), { maxItems: 50, description }));

const filters = {
  start_time: Type.Optional(Type.String({ format: 'date-time', description: 'Inclusive.' })),
  end_time: Type.Optional(Type.String({ format: 'date-time', description: 'Inclusive.' })),
  actor_id: Type.Optional(Type.String({ format: 'uuid', description: 'An identity or a person.' })),
  action: names('For example `member.added`.'),
  operation: names('Ids of operations of this API.'),
  resource_type: names('For example `workspace`.'),
  resource_id: Type.Optional(Type.String({ minLength: 1, maxLength: ID_LENGTH_MAX })),
  workspace_id: Type.Optional(Uuid),
};
export const AuditLogFilters = Type.Object(filters);
export type AuditLogFilters = Static<typeof AuditLogFilters>;

const cursor = Type.Optional(Type.String({ maxLength: 100, description: 'From the answer before.' }));

export const AuditLogPage = Type.Object(
  {
    items: Type.Array(AuditEvent),
    cursor: Nullable(Type.String({ description: 'Leads to the next page; null on the last.' })),
  },
  { $id: 'AuditLogPage' },
);
export type AuditLogPage = Static<typeof AuditLogPage>;

export const AuditLogVerification = Type.Object(
  {
    valid: Type.Boolean(),
    /** Events that were checked. */
    events: Type.Integer(),
    /** The first event at which the chain is broken; null when it is whole. */
    fault: Nullable(
      Type.Object({
        sequence: Type.Integer(),
        reason: Type.Union([Type.Literal('missing'), Type.Literal('changed'), Type.Literal('replaced')]),
      }),
    ),
    /** Events up to this one were removed by retention; null: none. */
    removed_up_to: Nullable(Type.Integer()),
    /** Signed positions that the chain was compared with. */
    checkpoints: Type.Integer(),
    /** True when retention removed the event of the checkpoint that was sent: there is nothing to compare it with. */
    checkpoint_removed: Type.Boolean(),
    /**
     * The end of the chain, signed (compact JWS) when the chain is whole. Kept elsewhere and sent with a later
     * verification, it shows whether events were cut off or made anew.
     */
    checkpoint: Nullable(Type.String()),
    /** The public keys (JWK) of checkpoints. They are never replaced: what one signed stays verifiable. */
    keys: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  },
  { $id: 'AuditLogVerification' },
);
export type AuditLogVerification = Static<typeof AuditLogVerification>;

const shared: {
  method: 'get';
  tags: string[];
  access: 'principal';
  permission: 'organization:manage';
} = { method: 'get', tags: ['audit logs'], access: 'principal', permission: 'organization:manage' };
const errors = { 401: UnauthorizedResponse, 403: ForbiddenResponse, 422: InvalidResponse };

export const listAuditLogs = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    ...shared,
    operationId: `listAuditLogs${alias}`,
    path: `${prefix}/audit-logs`,
    summary: 'Changes and decisions in the organization, newest first.',
    query: Type.Object({
      ...filters,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
      cursor,
    }),
    responses: {
      200: {
        description: 'A page, which ends early where events are large.',
        schema: AuditLogPage,
        example: { items: [exampleAuditEvent], cursor: null },
      },
      ...errors,
    },
    examples: { query: { action: ['workspace.created'] } },
  }),
);

export const exportAuditLogs = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    ...shared,
    operationId: `exportAuditLogs${alias}`,
    path: `${prefix}/audit-logs/export`,
    summary: 'The same as JSON lines, oldest first. Without filters `runyard audit verify` can check the file.',
    query: AuditLogFilters,
    responses: {
      200: {
        description: 'One event per line.',
        schema: AuditEvent,
        contentType: 'application/x-ndjson',
        example: exampleAuditEvent,
      },
      ...errors,
    },
    examples: { query: { action: ['workspace.created'] } },
  }),
);

export const verifyAuditLogs = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    ...shared,
    operationId: `verifyAuditLogs${alias}`,
    path: `${prefix}/audit-logs/verify`,
    summary: 'Whether the chain of events is whole, and where it is not.',
    query: Type.Object({
      checkpoint: Type.Optional(
        Type.String({
          maxLength: 4_000,
          description: 'From an earlier verification: the chain must still go through it.',
        }),
      ),
    }),
    responses: { 200: { description: 'What was found.', schema: AuditLogVerification }, ...errors },
  }),
);

const OcsfPage = Type.Object(
  { items: Type.Array(OcsfApiActivity), cursor: Nullable(Type.String()) },
  { $id: 'AuditLogOcsfPage' },
);

/** Takes the parameters of LangSmith's audit log, and answers as it does. */
export const getAuditLogs = defineOperation({
  ...shared,
  operationId: 'getAuditLogs',
  path: '/api/v1/audit-logs',
  summary: 'Changes and decisions in the organization as OCSF events (API Activity, 6003), newest first.',
  query: Type.Object({
    start_time: Timestamp,
    end_time: Timestamp,
    workspace_id: filters.workspace_id,
    operations: names('For example `create_workspace`.'),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
    cursor,
  }),
  responses: { 200: { description: 'A page.', schema: OcsfPage }, ...errors },
  examples: { query: { start_time: '2026-11-01T00:00:00Z', end_time: '2026-12-01T00:00:00Z' } },
});
