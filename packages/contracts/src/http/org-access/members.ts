import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import type { PermissionRefusal } from '../../permissions.ts';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import { ORGANIZATION_PREFIXES } from './paths.ts';
import {
  conflictResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

/** An email address; it is trimmed and compared in lower case. */
export const EmailAddress = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^\\s*[^\\s@<>()",;:\\\\\\u0000-\\u001f]+@[^\\s@<>()",;:\\\\\\u0000-\\u001f]+\\s*$',
});

/** The most people that one request invites or adds. */
export const MEMBER_BATCH_MAX = 500;

/** A way in which a person signs in. */
export const LinkedLoginMethod = Type.Object(
  {
    /** `user_id` of other answers. */
    id: Uuid,
    /** `email`, `supabase:sso` (SAML) or `custom-oidc`. */
    provider: Type.String(),
    email: Type.String(),
    /** How the login came to be: `scim`, `saml:jit`, `oidc:jit`, `invite`, `manual` or `bootstrap`. */
    provisioning: Type.String(),
    created_at: Timestamp,
  },
  { $id: 'LinkedLoginMethod' },
);
export type LinkedLoginMethod = Static<typeof LinkedLoginMethod>;

/** A person's identity in an organization. */
export const OrgMember = Type.Object(
  {
    /** `identity_id` of paths. */
    id: Uuid,
    organization_id: Uuid,
    /** Null: the identity is one of the organization. */
    tenant_id: Type.Null(),
    access_scope: Type.Literal('organization'),
    created_at: Timestamp,
    email: Type.String(),
    full_name: Nullable(Type.String()),
    display_name: Type.String(),
    avatar_url: Nullable(Type.String()),
    /** The login that was linked first; null before the first sign-in. */
    user_id: Nullable(Uuid),
    /** The person. */
    ls_user_id: Uuid,
    linked_login_methods: Type.Array(LinkedLoginMethod),
    /** True: the person may not sign in. */
    is_disabled: Type.Boolean(),
    read_only: Type.Boolean(),
    /** The role in the organization, like `org_role_id`. */
    role_id: Uuid,
    role_name: Type.String(),
    org_role_id: Uuid,
    org_role_name: Type.String(),
    /** Workspaces in which the person has a role. Organization administrators are in all, also those not named. */
    tenant_ids: Type.Array(Uuid),
  },
  { $id: 'OrgMember' },
);
export type OrgMember = Static<typeof OrgMember>;

/** An invite that waits for its person. */
export const PendingMember = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    tenant_id: Type.Null(),
    access_scope: Type.Literal('organization'),
    created_at: Timestamp,
    expires_at: Timestamp,
    email: Type.String(),
    full_name: Nullable(Type.String()),
    read_only: Type.Boolean(),
    /** The role in the organization, like `org_role_id`. */
    role_id: Uuid,
    role_name: Type.String(),
    org_role_id: Uuid,
    org_role_name: Type.String(),
    workspace_ids: Type.Array(Uuid),
    tenant_ids: Type.Array(Uuid),
    /** The role in each of `workspace_ids`; null when it has none, or several roles. */
    workspace_role_id: Nullable(Uuid),
  },
  { $id: 'PendingMember' },
);
export type PendingMember = Static<typeof PendingMember>;

/** The result of adding a person: an invite, or with `direct` a member. */
export const NewMember = Type.Object(
  {
    ...PendingMember.properties,
    /** Null for a member. */
    expires_at: Nullable(Timestamp),
    /** False: the person is a member already, and `id` is the identity's. */
    is_pending: Type.Boolean(),
    /** The address at which the person accepts, shown in this answer alone. Null when the link was sent by email, or for a member. */
    invite_link: Nullable(Type.String()),
  },
  { $id: 'NewMember' },
);
export type NewMember = Static<typeof NewMember>;

const memberFields = {
  email: EmailAddress,
  /** The name of a person who is new; others keep theirs. */
  full_name: OptionalNullable(Type.String({ minLength: 1, maxLength: 200 })),
  /** The role in the organization. Default: user. */
  role_id: OptionalNullable(Uuid),
  /** Workspaces that the person gets into. Default: none. */
  workspace_ids: OptionalNullable(Type.Array(Uuid, { maxItems: 500 })),
  /** The role in each of them. Default: editor, or viewer with `read_only`. */
  workspace_role_id: OptionalNullable(Uuid),
  /** Deprecated; only changes the default of `workspace_role_id`. */
  read_only: OptionalNullable(Type.Boolean()),
};

export const PendingIdentityCreate = Type.Object(
  {
    ...memberFields,
    /**
     * True: makes the person a member at once, without an invite, whatever `invites_enabled` says. They get in with the
     * first sign-in of this address.
     */
    direct: OptionalNullable(Type.Boolean()),
    /** Refused (422): accounts with a password are made at `members/basic/batch`. */
    password: OptionalNullable(Type.String({ minLength: 1, maxLength: 1_024 })),
  },
  { $id: 'PendingIdentityCreate' },
);
export type PendingIdentityCreate = Static<typeof PendingIdentityCreate>;

export const BasicMemberCreate = Type.Object(
  {
    ...memberFields,
    /** Default: one is generated. */
    password: OptionalNullable(Type.String({ minLength: 1, maxLength: 1_024 })),
  },
  { $id: 'BasicMemberCreate' },
);
export type BasicMemberCreate = Static<typeof BasicMemberCreate>;

/** A member whose account was made with a password. */
export const BasicMember = Type.Object(
  {
    ...OrgMember.properties,
    /** This answer alone shows it. */
    password: Type.String(),
  },
  { $id: 'BasicMember' },
);
export type BasicMember = Static<typeof BasicMember>;

/** A link with which the password of a member is set. */
export const PasswordLink = Type.Object(
  {
    /** Works once; this answer alone shows it. */
    link: Type.String(),
    expires_at: Timestamp,
  },
  { $id: 'PasswordLink' },
);
export type PasswordLink = Static<typeof PasswordLink>;

export const MemberUpdate = Type.Object(
  {
    /** The role in the organization. */
    role_id: OptionalNullable(Uuid),
    /** For people who are in no other organization. */
    full_name: OptionalNullable(Type.String({ minLength: 1, maxLength: 200 })),
    /** For people who sign in with a password alone and are in no other organization; ends their sessions. */
    password: OptionalNullable(Type.String({ minLength: 1, maxLength: 1_024 })),
  },
  { $id: 'MemberUpdate' },
);
export type MemberUpdate = Static<typeof MemberUpdate>;

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

/** A member or an invite, with all that gives roles to them. */
export const EnrichedMember = Type.Object(
  {
    /** The identity, or the invite. */
    id: Uuid,
    is_pending: Type.Boolean(),
    is_disabled: Type.Boolean(),
    /** Null for an invite. */
    ls_user_id: Nullable(Uuid),
    email: Type.String(),
    display_name: Type.String(),
    avatar_url: Nullable(Type.String()),
    created_at: Timestamp,
    /** The role in the organization. */
    role_id: Uuid,
    role_name: Type.String(),
    linked_login_methods: Type.Array(Type.Object({ provider: Type.String(), provisioning: Type.String() })),
    scim_groups: Type.Array(Type.Object({ name: Type.String(), created_at: Timestamp })),
    workspace_memberships: Type.Array(
      Type.Object({
        workspace_id: Uuid,
        workspace_name: Type.String(),
        role_id: Uuid,
        role_name: Type.String(),
      }),
    ),
  },
  { $id: 'EnrichedMember' },
);
export type EnrichedMember = Static<typeof EnrichedMember>;

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

export const listEnrichedMembers = defineOperation({
  operationId: 'listEnrichedMembers',
  method: 'get',
  path: '/v1/platform/orgs/current/members',
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
});
