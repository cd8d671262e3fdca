import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import { MEMBER_BATCH_MAX, NewMember, OrgMember, PendingIdentityCreate, PendingMember } from './member-bodies.ts';
import { ActiveMembersQuery, PendingMembersQuery } from './members.ts';
import {
  conflictResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

const { tenant_ids: _memberWorkspaces, ...memberFields } = OrgMember.properties;

/** A person with a role in the workspace. */
export const WorkspaceMember = Type.Object(
  {
    ...memberFields,
    /** The identity of the workspace's lists. Administrators of the organization may have their own one here. */
    id: Uuid,
    /** The identity in the organization. */
    org_identity_id: Uuid,
    /** The workspace. */
    tenant_id: Uuid,
    access_scope: Type.Literal('workspace'),
    /** The role in the workspace. */
    role_id: Uuid,
    role_name: Type.String(),
  },
  { $id: 'WorkspaceMember' },
);
export type WorkspaceMember = Static<typeof WorkspaceMember>;

const { id, organization_id, created_at, expires_at, email, full_name, read_only } = PendingMember.properties;

/** An invite that leads to the workspace too. */
export const PendingWorkspaceMember = Type.Object(
  {
    ...{ id, organization_id, created_at, expires_at, email, full_name, read_only },
    /** The workspace. */
    tenant_id: Uuid,
    access_scope: Type.Literal('workspace'),
    /** The role in the workspace. */
    role_id: Uuid,
    role_name: Type.String(),
    org_role_id: Uuid,
    org_role_name: Type.String(),
  },
  { $id: 'PendingWorkspaceMember' },
);
export type PendingWorkspaceMember = Static<typeof PendingWorkspaceMember>;

/** The result of getting a person into the workspace: a member, or an invite. */
export const NewWorkspaceMember = Type.Object(
  {
    ...PendingWorkspaceMember.properties,
    /** Null for a member. */
    expires_at: NewMember.properties.expires_at,
    /** False: the person was in the organization, and has the role now. */
    is_pending: NewMember.properties.is_pending,
    /** The address at which the person accepts, shown in this answer alone. Null unless the invite is new and was not sent by email. */
    invite_link: NewMember.properties.invite_link,
  },
  { $id: 'NewWorkspaceMember' },
);
export type NewWorkspaceMember = Static<typeof NewWorkspaceMember>;

const { direct: _direct, ...inviteFields } = PendingIdentityCreate.properties;

/** A person who is to get into the workspace. */
export const WorkspaceInvite = Type.Object(
  {
    ...inviteFields,
    /** The role in the organization of somebody who is neither in it nor invited; others keep theirs. Default: user. */
    role_id: OptionalNullable(Uuid),
    /** At most the workspace of the request. */
    workspace_ids: inviteFields.workspace_ids,
    /** The role in the workspace. Default: editor, or viewer with `read_only`. */
    workspace_role_id: OptionalNullable(Uuid),
  },
  { $id: 'WorkspaceInvite' },
);
export type WorkspaceInvite = Static<typeof WorkspaceInvite>;

/** Names a member of the organization in one way or in several that agree. */
export const WorkspaceMemberCreate = Type.Object(
  {
    /** The identity in the organization. */
    org_identity_id: Type.Optional(Uuid),
    /** The person. */
    ls_user_id: Type.Optional(Uuid),
    /** A login of the person. */
    user_id: Type.Optional(Uuid),
    /** The role in the workspace. */
    role_id: Uuid,
  },
  { $id: 'WorkspaceMemberCreate' },
);
export type WorkspaceMemberCreate = Static<typeof WorkspaceMemberCreate>;

const WorkspaceMemberUpdate = Type.Object({ role_id: Uuid }, { $id: 'WorkspaceMemberUpdate' });

const WORKSPACE = '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001';
const EDITOR = '5a7d6f2e-0000-4000-8000-000000000012';
const USER = '5a7d6f2e-0000-4000-8000-000000000002';
const shared = {
  id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0d001',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  tenant_id: WORKSPACE,
  access_scope: 'workspace' as const,
  created_at: '2026-11-20T12:00:00.000Z',
  email: 'ada@example.com',
  full_name: 'Ada Lovelace',
  read_only: false,
  role_id: EDITOR,
  role_name: 'Editor',
  org_role_id: USER,
  org_role_name: 'Organization User',
};
const exampleMember: WorkspaceMember = {
  ...shared,
  org_identity_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0c001',
  display_name: 'Ada Lovelace',
  avatar_url: null,
  user_id: null,
  ls_user_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0c002',
  linked_login_methods: [],
  is_disabled: false,
};
const examplePending: PendingWorkspaceMember = { ...shared, expires_at: '2026-12-04T12:00:00.000Z' };

const PATH = '/api/v1/workspaces/current/members';
const tags = ['workspace members'];
const reads = { tags, access: 'principal', permission: 'workspaces:read' } as const;
const manages = { tags, access: 'principal', permission: 'workspaces:manage-members' } as const;
const refusals = { 401: UnauthorizedResponse, 403: ForbiddenResponse, 422: InvalidResponse };
const notFound = { ...NotFoundResponse, example: { detail: 'Member not found' } };
const conflict = conflictResponse('ada@example.com is a member already');
const total = { 'X-Pagination-Total': 'Matches in all.' };
const params = Type.Object({ workspace_member_id: Uuid });
const exampleParams = { workspace_member_id: shared.id };

export const listWorkspaceMembers = defineOperation({
  operationId: 'listWorkspaceMembers',
  method: 'get',
  path: PATH,
  summary: 'Every person with a role in the workspace, and every pending invite to it.',
  ...reads,
  responses: {
    200: {
      description: 'The members and the invites, oldest first.',
      schema: Type.Object(
        { tenant_id: Uuid, members: Type.Array(WorkspaceMember), pending: Type.Array(PendingWorkspaceMember) },
        { $id: 'WorkspaceMembers' },
      ),
      example: { tenant_id: WORKSPACE, members: [exampleMember], pending: [examplePending] },
    },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
  },
});

export const listActiveWorkspaceMembers = defineOperation({
  operationId: 'listActiveWorkspaceMembers',
  method: 'get',
  path: `${PATH}/active`,
  summary: 'People with a role in the workspace, page by page. Administrators of the organization are among them.',
  ...reads,
  query: ActiveMembersQuery,
  responses: {
    200: { description: 'A page.', headers: total, schema: Type.Array(WorkspaceMember), example: [exampleMember] },
    ...refusals,
  },
});

export const listPendingWorkspaceMembers = defineOperation({
  operationId: 'listPendingWorkspaceMembers',
  method: 'get',
  path: `${PATH}/pending`,
  summary: 'Pending invites to the workspace, page by page.',
  ...reads,
  query: PendingMembersQuery,
  responses: {
    200: {
      description: 'A page.',
      headers: total,
      schema: Type.Array(PendingWorkspaceMember),
      example: [examplePending],
    },
    ...refusals,
  },
});

export const addWorkspaceMember = defineCreation('workspace-members', {
  operationId: 'addWorkspaceMember',
  method: 'post',
  path: PATH,
  summary: 'Give a member of the organization a role in the workspace.',
  ...manages,
  body: WorkspaceMemberCreate,
  responses: {
    200: { description: 'The member.', schema: WorkspaceMember, example: exampleMember },
    ...refusals,
    409: conflict,
  },
  examples: { body: { org_identity_id: exampleMember.org_identity_id, role_id: EDITOR } },
});

export const addWorkspaceMembers = defineCreation('workspace-members', {
  operationId: 'addWorkspaceMembers',
  method: 'post',
  path: `${PATH}/batch`,
  summary: `Get up to ${MEMBER_BATCH_MAX} people into the workspace, all or none: members of the organization at once, others by invite.`,
  ...manages,
  body: Type.Array(WorkspaceInvite, { minItems: 1, maxItems: MEMBER_BATCH_MAX }),
  responses: {
    200: {
      description: 'The members and invites, in the order of the request.',
      schema: Type.Array(NewWorkspaceMember),
      example: [{ ...examplePending, is_pending: true, invite_link: null }],
    },
    ...refusals,
    409: conflict,
  },
  examples: { body: [{ email: 'grace@example.com', workspace_role_id: EDITOR }] },
});

export const updateWorkspaceMember = defineOperation({
  operationId: 'updateWorkspaceMember',
  method: 'patch',
  path: `${PATH}/{workspace_member_id}`,
  summary: 'Give a member another role in the workspace. One that a group of SCIM decides is not changed by hand.',
  ...manages,
  params,
  body: WorkspaceMemberUpdate,
  responses: {
    200: { description: 'The member.', schema: WorkspaceMember, example: exampleMember },
    ...refusals,
    404: notFound,
    409: conflictResponse(
      'The group "Acme Organization User:Research:Editor" of the identity provider decides this role',
    ),
  },
  examples: { params: exampleParams, body: { role_id: EDITOR } },
});

export const removeWorkspaceMember = defineOperation({
  operationId: 'removeWorkspaceMember',
  method: 'delete',
  path: `${PATH}/{workspace_member_id}`,
  summary: 'Take a member out of the workspace. They stay in the organization.',
  ...manages,
  params,
  responses: {
    200: { description: 'The member as they were.', schema: WorkspaceMember, example: exampleMember },
    ...refusals,
    404: notFound,
    409: conflictResponse('Organization administrators administer every workspace'),
  },
  examples: { params: exampleParams },
});

export const updateWorkspaceInvite = defineOperation({
  operationId: 'updateWorkspaceInvite',
  method: 'patch',
  path: `${PATH}/{workspace_member_id}/pending`,
  summary: 'Change the role that a pending invite gives in the workspace.',
  ...manages,
  params,
  body: WorkspaceMemberUpdate,
  responses: {
    200: { description: 'The invite.', schema: PendingWorkspaceMember, example: examplePending },
    ...refusals,
    404: { ...NotFoundResponse, example: { detail: 'Invite not found' } },
  },
  examples: { params: exampleParams, body: { role_id: EDITOR } },
});

export const withdrawWorkspaceInvite = defineOperation({
  operationId: 'withdrawWorkspaceInvite',
  method: 'delete',
  path: `${PATH}/{workspace_member_id}/pending`,
  summary: 'Take the workspace out of a pending invite. The invite to the organization stays.',
  ...manages,
  params,
  responses: {
    200: { description: 'The invite as it was.', schema: PendingWorkspaceMember, example: examplePending },
    ...refusals,
    404: { ...NotFoundResponse, example: { detail: 'Invite not found' } },
  },
  examples: { params: exampleParams },
});

/** A workspace to which an invite for the caller leads. */
export const PendingWorkspace = Type.Object(
  {
    /** The workspace. */
    id: Uuid,
    organization_id: Uuid,
    display_name: Type.String(),
    tenant_handle: Nullable(Type.String()),
    /** The role in the workspace. */
    role_id: Uuid,
    /** The role in the organization. */
    org_role_id: Uuid,
    invited_at: Timestamp,
    expires_at: Timestamp,
  },
  { $id: 'PendingWorkspace' },
);
export type PendingWorkspace = Static<typeof PendingWorkspace>;

const examplePlace: PendingWorkspace = {
  ...{ id: WORKSPACE, organization_id: shared.organization_id, display_name: 'Research', tenant_handle: null },
  ...{ role_id: EDITOR, org_role_id: USER, invited_at: shared.created_at, expires_at: examplePending.expires_at },
};
const person = { tags, access: 'principal', permission: 'signed-in person' } as const;
const place = {
  params: Type.Object({ workspace_id: Uuid }),
  examples: { params: { workspace_id: WORKSPACE } },
};
const personRefusals = { ...refusals, 404: { ...NotFoundResponse, example: { detail: 'Invite not found' } } };

export const listMyWorkspaceInvites = defineOperation({
  operationId: 'listMyWorkspaceInvites',
  method: 'get',
  path: '/api/v1/workspaces/pending',
  summary: 'Workspaces to which invites lead the signed-in person, by the verified address.',
  ...person,
  responses: {
    200: {
      description: 'The workspaces, oldest invite first.',
      schema: Type.Array(PendingWorkspace),
      example: [examplePlace],
    },
    401: UnauthorizedResponse,
    403: ForbiddenResponse,
  },
});

export const claimMyWorkspaceInvite = defineOperation({
  operationId: 'claimMyWorkspaceInvite',
  method: 'post',
  path: '/api/v1/workspaces/pending/{workspace_id}/claim',
  summary: 'Accept the invite that leads to a workspace, with the organization and all its other workspaces.',
  ...person,
  ...place,
  responses: {
    200: { description: 'The identity in the organization.', schema: OrgMember },
    ...personRefusals,
    409: conflict,
  },
});

export const declineMyWorkspaceInvite = defineOperation({
  operationId: 'declineMyWorkspaceInvite',
  method: 'delete',
  path: '/api/v1/workspaces/pending/{workspace_id}',
  summary: 'Decline a workspace. The invite to the organization stays.',
  ...person,
  ...place,
  responses: {
    200: { description: 'The workspace as it was in the invite.', schema: PendingWorkspace, example: examplePlace },
    ...personRefusals,
  },
});

export const workspaceMemberOperations = [
  listWorkspaceMembers,
  listActiveWorkspaceMembers,
  listPendingWorkspaceMembers,
  addWorkspaceMember,
  addWorkspaceMembers,
  updateWorkspaceMember,
  removeWorkspaceMember,
  updateWorkspaceInvite,
  withdrawWorkspaceInvite,
  listMyWorkspaceInvites,
  claimMyWorkspaceInvite,
  declineMyWorkspaceInvite,
];
