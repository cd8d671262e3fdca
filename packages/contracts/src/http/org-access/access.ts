import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { ORGANIZATION_PREFIXES } from './paths.ts';
import { ForbiddenResponse, InvalidResponse, NotFoundResponse, UnauthorizedResponse } from './responses.ts';

const ExplainedRole = Type.Object({ id: Uuid, name: Type.String(), display_name: Type.String() });

const ExplainedSource = Type.Object({
  kind: Type.String({
    description:
      '`scim_group`, `manual`, `invite`, `bootstrap`, `sso_group`, `jit`, `scim`; `service_account` for the roles of one; `default` for a member to whom nothing gives a role.',
  }),
  /** The group, invite or provider. */
  id: Nullable(Uuid),
  name: Nullable(Type.String()),
  created_at: Nullable(Timestamp),
});

export const AccessExplanation = Type.Object(
  {
    allowed: Type.Boolean(),
    permission: Type.String(),
    identity: Type.Object({
      id: Uuid,
      kind: Type.String({ description: '`person` or `service_account`.' }),
      name: Type.String(),
      person_id: Nullable(Uuid),
      disabled: Type.Boolean(),
    }),
    /** The place whose role decides. */
    resource: Type.Object({ type: Type.Union([Type.Literal('organization'), Type.Literal('workspace')]), id: Uuid }),
    /** The role that decides; null: the identity has none there. */
    role: Nullable(ExplainedRole),
    /** The reason why the identity has that role in this place. */
    via: Nullable(
      Type.Union([
        Type.Literal('organization_role'),
        Type.Literal('organization_administrator'),
        Type.Literal('membership'),
        Type.Literal('everywhere'),
      ]),
    ),
    /** The origin of the role. */
    source: Nullable(ExplainedSource),
    /** The access policies of the roles that decide about the resource in place of the role; null: none matches. */
    policy: Nullable(
      Type.Object({
        effect: Type.Union([Type.Literal('allow'), Type.Literal('deny')]),
        policies: Type.Array(Type.Object({ id: Uuid, name: Type.String() })),
        /** The resource whose tags they match. */
        resource: Type.Object({
          type: Type.Union([Type.Literal('deployment'), Type.Literal('service_key'), Type.Literal('workspace')]),
          id: Uuid,
        }),
      }),
    ),
    /** True when policies decide about this permission on resources with certain tags: the answer is about the others. */
    depends_on_tags: Type.Boolean(),
    /** The sign-in or other change that made the person a member with that source, from the audit trail. */
    decided_by: Nullable(
      Type.Object({
        event_id: Uuid,
        action: Type.String(),
        occurred_at: Timestamp,
        details: Nullable(Type.Record(Type.String(), Type.Unknown())),
      }),
    ),
    /** Changes after which the answer would be another. */
    changes: Type.Array(
      Type.Object({
        change: Type.Union([
          Type.Literal('enable_identity'),
          Type.Literal('use_unrestricted_key'),
          Type.Literal('give_role'),
          Type.Literal('change_source'),
          Type.Literal('remove_source'),
          Type.Literal('detach_policies'),
          Type.Literal('change_tags'),
        ]),
        description: Type.String(),
        /** Roles of which each would do. */
        role_ids: Type.Optional(Type.Array(Uuid)),
        /** The policies to detach from the roles, all of them, or those of which one would match other tags. */
        policy_ids: Type.Optional(Type.Array(Uuid)),
      }),
    ),
  },
  { $id: 'AccessExplanation' },
);
export type AccessExplanation = Static<typeof AccessExplanation>;

const example: AccessExplanation = {
  allowed: true,
  permission: 'deployments:create',
  identity: {
    id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c002',
    kind: 'person',
    name: 'Ada',
    person_id: '0198a6c2-6f1a-7c5e-9a51-0a53d0a0c003',
    disabled: false,
  },
  resource: { type: 'workspace', id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001' },
  role: { id: '5a7d6f2e-0000-4000-8000-000000000012', name: 'WORKSPACE_EDITOR', display_name: 'Editor' },
  via: 'membership',
  source: { kind: 'manual', id: null, name: null, created_at: '2026-11-20T12:00:00.000Z' },
  policy: null,
  depends_on_tags: false,
  decided_by: null,
  changes: [{ change: 'remove_source', description: 'Without it there is no role in the workspace.' }],
};

export const explainAccess = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    operationId: `explainAccess${alias}`,
    method: 'get',
    path: `${prefix}/access/explain`,
    summary:
      'Why an identity has a permission or lacks it. Administrators ask about everybody, others about themselves.',
    tags: ['access'],
    access: 'principal',
    permission: 'any key',
    query: Type.Object({
      identity: Type.String({
        format: 'uuid',
        description: 'The id of a row of the member lists, or of a service account.',
      }),
      permission: Type.String({ minLength: 1, maxLength: 100, description: 'For example `deployments:create`.' }),
      resource: Type.Optional(
        Type.String({
          format: 'uuid',
          description:
            'The organization, a workspace, or a tagged deployment or service key; a deployment without tags needs `workspace_id`. Default: the organization.',
        }),
      ),
      workspace_id: Type.Optional(
        Type.String({ format: 'uuid', description: 'The workspace of the deployment or key that `resource` names.' }),
      ),
      api_key_id: Type.Optional(
        Type.String({
          format: 'uuid',
          description: 'A key of the identity: one that only reads has fewer permissions.',
        }),
      ),
    }),
    responses: {
      200: { description: 'The explanation.', schema: AccessExplanation, example },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      404: { ...NotFoundResponse, example: { detail: 'Identity not found' } },
      422: InvalidResponse,
    },
    examples: {
      query: {
        identity: example.identity.id,
        permission: example.permission,
        resource: example.resource.id,
      },
    },
  }),
);
