import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import type { PermissionRefusal } from '../../permissions.ts';
import { Uuid } from '../common.ts';
import {
  BasicMember,
  BasicMemberCreate,
  EnrichedMember,
  MEMBER_BATCH_MAX,
  MemberUpdate,
  NewMember,
  OrgMember,
  PasswordLink,
  PendingIdentityCreate,
  PendingMember,
} from './member-bodies.ts';
import { ORGANIZATION_PREFIXES, PLATFORM_PREFIXES } from './paths.ts';
import {
  conflictResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

const exampleMember: OrgMember = {
  id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0c001',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  tenant_id: null,
  access_scope: 'organization',
  created_at: '2026-11-20T12:00:00.000Z',
  email: 'ada@example.com',
  full_name: 'Ada Lovelace',
  display_name: 'Ada Lovelace',
  avatar_url: null,
  user_id: null,
  ls_user_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0c002',
  linked_login_methods: [],
  is_disabled: false,
  read_only: false,
  role_id: '5a7d6f2e-0000-4000-8000-000000000002',
  role_name: 'Organization User',
  org_role_id: '5a7d6f2e-0000-4000-8000-000000000002',
  org_role_name: 'Organization User',
  tenant_ids: [],
};
const examplePending: PendingMember = {
  id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0c003',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  tenant_id: null,
  access_scope: 'organization',
  created_at: '2026-11-20T12:00:00.000Z',
  expires_at: '2026-12-04T12:00:00.000Z',
  email: 'grace@example.com',
  full_name: null,
  read_only: false,
  role_id: '5a7d6f2e-0000-4000-8000-000000000002',
  role_name: 'Organization User',
  org_role_id: '5a7d6f2e-0000-4000-8000-000000000002',
  org_role_name: 'Organization User',
  workspace_ids: [],
  tenant_ids: [],
  workspace_role_id: null,
};
const exampleNew: NewMember = {
  ...examplePending,
  is_pending: true,
  invite_link: 'https://runyard.example.com/login/invite?token=…',
};

const reads = {
  access: 'principal',
  permission: 'organization:read',
  refusal: { detail: 'You may not read the organization', code: 'permission_missing' } as PermissionRefusal,
} as const;
const manages = {
  access: 'principal',
  permission: 'organization:manage',
  refusal: {
    detail: 'Only organization administrators and operators manage its members',
    code: 'organization_admin_required',
  } as PermissionRefusal,
} as const;
const administers = {
  ...manages,
  refusal: {
    detail: 'Only organization administrators make accounts and set passwords',
    code: 'organization_admin_required',
  } as PermissionRefusal,
} as const;
const tags = ['members'];
const identityParams = Type.Object({ identity_id: Uuid });
const refusals = { 401: UnauthorizedResponse, 403: ForbiddenResponse, 422: InvalidResponse };
const memberConflict = conflictResponse('ada@example.com is a member already');
const accountNotOwned = conflictResponse('Only the person sets this password');
const memberNotFound = { ...NotFoundResponse, example: { detail: 'Member not found' } };

const page = {
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
};
const filters = {
  ...page,
  /** Whole addresses. */
  emails: Type.Optional(Type.Array(Type.String({ maxLength: 254 }), { maxItems: 500 })),
  /** A part of the name or the address. */
  q: Type.Optional(Type.String({ maxLength: 254 })),
  sort_by: Type.Union([Type.Literal('name'), Type.Literal('email'), Type.Literal('role'), Type.Literal('created_at')], {
    default: 'created_at',
  }),
  sort_by_desc: Type.Boolean({ default: true }),
};
export const ActiveMembersQuery = Type.Object({
  ...filters,
  ls_user_ids: Type.Optional(Type.Array(Uuid, { maxItems: 500 })),
  user_ids: Type.Optional(Type.Array(Uuid, { maxItems: 500 })),
  is_disabled: Type.Optional(Type.Boolean()),
});
export type ActiveMembersQuery = Static<typeof ActiveMembersQuery>;
export const PendingMembersQuery = Type.Object(filters);
export type PendingMembersQuery = Static<typeof PendingMembersQuery>;

const total = { 'X-Pagination-Total': 'Matches in all.' };

export const memberOperations = ORGANIZATION_PREFIXES.map(({ prefix, alias }) => ({
  list: defineOperation({
    operationId: `listOrganizationMembers${alias}`,
    method: 'get',
    path: `${prefix}/members`,
    summary: 'Every member and every pending invite of the organization.',
    tags,
    ...reads,
    responses: {
      200: {
        description: 'The members and the invites, oldest first.',
        schema: Type.Object(
          { organization_id: Uuid, members: Type.Array(OrgMember), pending: Type.Array(PendingMember) },
          { $id: 'OrgMembers' },
        ),
        example: {
          organization_id: exampleMember.organization_id,
          members: [exampleMember],
          pending: [examplePending],
        },
      },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
    },
  }),
  listActive: defineOperation({
    operationId: `listActiveOrganizationMembers${alias}`,
    method: 'get',
    path: `${prefix}/members/active`,
    summary: 'Members of the organization, page by page.',
    tags,
    ...reads,
    query: ActiveMembersQuery,
    responses: {
      200: { description: 'A page.', headers: total, schema: Type.Array(OrgMember), example: [exampleMember] },
      ...refusals,
    },
  }),
  listPending: defineOperation({
    operationId: `listPendingOrganizationMembers${alias}`,
    method: 'get',
    path: `${prefix}/members/pending`,
    summary: 'Pending invites of the organization, page by page.',
    tags,
    ...reads,
    query: PendingMembersQuery,
    responses: {
      200: { description: 'A page.', headers: total, schema: Type.Array(PendingMember), example: [examplePending] },
      ...refusals,
    },
  }),
  add: defineCreation('members', {
    operationId: `addOrganizationMember${alias}`,
    method: 'post',
    path: `${prefix}/members`,
    summary: 'Invite a person, or with `direct` make them a member. An invite replaces an earlier one.',
    tags,
    ...manages,
    body: PendingIdentityCreate,
    responses: {
      200: { description: 'The invite or the member.', schema: NewMember, example: exampleNew },
      ...refusals,
      409: memberConflict,
    },
    examples: { body: { email: 'grace@example.com' } },
  }),
  addBatch: defineCreation('members', {
    operationId: `addOrganizationMembers${alias}`,
    method: 'post',
    path: `${prefix}/members/batch`,
    summary: `Invite up to ${MEMBER_BATCH_MAX} people, or make them members: all or none.`,
    tags,
    ...manages,
    body: Type.Array(PendingIdentityCreate, { minItems: 1, maxItems: MEMBER_BATCH_MAX }),
    responses: {
      200: {
        description: 'The invites and members, in the order of the request.',
        schema: Type.Array(NewMember),
        example: [exampleNew],
      },
      ...refusals,
      409: memberConflict,
    },
    examples: { body: [{ email: 'grace@example.com' }] },
  }),
  addBasicBatch: defineCreation('members', {
    operationId: `addBasicMembers${alias}`,
    method: 'post',
    path: `${prefix}/members/basic/batch`,
    summary: `Make up to ${MEMBER_BATCH_MAX} members with accounts that have a password: all or none. Nobody may have an account yet.`,
    tags,
    ...administers,
    body: Type.Array(BasicMemberCreate, { minItems: 1, maxItems: MEMBER_BATCH_MAX }),
    responses: {
      200: {
        description: 'The members with their passwords, in the order of the request.',
        schema: Type.Array(BasicMember),
        example: [{ ...exampleMember, password: 'a password' }],
      },
      ...refusals,
      409: conflictResponse('There are accounts with these addresses: ada@example.com'),
    },
    examples: { body: [{ email: 'basic@example.com', full_name: 'Ada Lovelace' }] },
  }),
  createPasswordLink: defineOperation({
    operationId: `createMemberPasswordLink${alias}`,
    method: 'post',
    path: `${prefix}/members/{identity_id}/password-link`,
    summary:
      'Make a link with which a member, who is in no other organization, sets a password: works once, for an hour.',
    tags,
    ...administers,
    params: identityParams,
    responses: {
      200: {
        description: 'The link.',
        schema: PasswordLink,
        example: {
          link: 'https://runyard.example.com/auth/new-password?token=…',
          expires_at: '2026-11-20T13:00:00.000Z',
        },
      },
      ...refusals,
      404: memberNotFound,
      409: accountNotOwned,
    },
  }),
  removeSecondFactors: defineOperation({
    operationId: `removeMemberSecondFactors${alias}`,
    method: 'delete',
    path: `${prefix}/members/{identity_id}/second-factors`,
    summary:
      'Remove the authenticator app, the passkeys and the recovery codes of a member who lost them, and who is in no other organization.',
    tags,
    ...administers,
    params: identityParams,
    responses: {
      204: { description: 'The password alone signs the member in.' },
      ...refusals,
      404: memberNotFound,
      409: conflictResponse('Only the person changes these second factors'),
    },
  }),
  update: defineOperation({
    operationId: `updateOrganizationMember${alias}`,
    method: 'patch',
    path: `${prefix}/members/{identity_id}`,
    summary:
      'Change role, name or password of a member. Operators change users and viewers only, administrators alone passwords.',
    tags,
    ...manages,
    params: identityParams,
    body: MemberUpdate,
    responses: {
      200: { description: 'The member.', schema: OrgMember, example: exampleMember },
      ...refusals,
      404: memberNotFound,
      409: memberConflict,
    },
    examples: { body: { role_id: exampleMember.role_id } },
  }),
  remove: defineOperation({
    operationId: `removeOrganizationMember${alias}`,
    method: 'delete',
    path: `${prefix}/members/{identity_id}`,
    summary: 'Remove a member: ends their sessions and personal access tokens of the organization.',
    tags,
    ...manages,
    params: identityParams,
    responses: {
      200: { description: 'The member as they were.', schema: OrgMember, example: exampleMember },
      ...refusals,
      404: memberNotFound,
      409: memberConflict,
    },
  }),
  withdraw: defineOperation({
    operationId: `withdrawOrganizationInvite${alias}`,
    method: 'delete',
    path: `${prefix}/members/{identity_id}/pending`,
    summary: 'Withdraw an invite: its link works no more.',
    tags,
    ...manages,
    params: identityParams,
    responses: {
      200: { description: 'The invite as it was.', schema: PendingMember, example: examplePending },
      ...refusals,
      404: { ...NotFoundResponse, example: { detail: 'Invite not found' } },
    },
  }),
}));

const globs = (subject: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 254 }), {
      maxItems: 20,
      description: `Globs for the ${subject}, in which * is any text; one has to match.`,
    }),
  );
export const EnrichedMembersQuery = Type.Object({
  ...page,
  /** True: only members; false: only invites. */
  active_is: Type.Optional(Type.Boolean()),
  /** True: only invites; false: only members. */
  pending_is: Type.Optional(Type.Boolean()),
  name_like: globs('name'),
  email_like: globs('address'),
  workspace_name_like: globs('name or the id of a workspace'),
  organization_role_like: globs('name of the role in the organization'),
  workspace_role_like: globs('name of the role in a workspace'),
});
export type EnrichedMembersQuery = Static<typeof EnrichedMembersQuery>;

export const listEnrichedMembers = PLATFORM_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    operationId: `listEnrichedMembers${alias}`,
    method: 'get',
    path: `${prefix}/members`,
    summary: 'Members and invites with their groups, workspaces and login methods, by address.',
    tags,
    ...reads,
    query: EnrichedMembersQuery,
    responses: {
      200: {
        description: 'A page.',
        headers: total,
        schema: Type.Array(EnrichedMember),
        example: [
          {
            ...{ id: exampleMember.id, is_pending: false, is_disabled: false, ls_user_id: exampleMember.ls_user_id },
            ...{ email: exampleMember.email, display_name: 'Ada Lovelace', avatar_url: null },
            ...{ created_at: exampleMember.created_at, role_id: exampleMember.role_id, role_name: 'Organization User' },
            linked_login_methods: [{ provider: 'custom-oidc', provisioning: 'oidc:jit' }],
            scim_groups: [],
            workspace_memberships: [],
          },
        ],
      },
      ...refusals,
    },
  }),
);
