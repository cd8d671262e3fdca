import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Nullable, Timestamp, Uuid } from '../common.ts';
import { PLATFORM_PREFIXES } from './paths.ts';
import { PlatformErrorResponse } from './platform-errors.ts';
import { InvalidResponse } from './responses.ts';

const WorkspaceRole = Type.Object({
  workspace_id: Uuid,
  workspace_name: Type.String(),
  role_id: Uuid,
  role_name: Type.String(),
});

/** A user whom an identity provider keeps, with the member that it is. */
export const ProvisionedUser = Type.Object(
  {
    /** The id of the SCIM user. */
    id: Uuid,
    /** The id of the member, as the member lists have it. */
    identity_id: Uuid,
    user_name: Type.String(),
    external_id: Nullable(Type.String()),
    email: Type.String(),
    display_name: Type.String(),
    /** False: the identity provider has switched the user off. */
    is_active: Type.Boolean(),
    /** True: the member may do nothing here, by the identity provider or by an administrator. */
    is_disabled: Type.Boolean(),
    role_id: Uuid,
    role_name: Type.String(),
    workspaces: Type.Array(WorkspaceRole),
    /** Names of the groups of the user. */
    groups: Type.Array(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'ProvisionedUser' },
);
export type ProvisionedUser = Static<typeof ProvisionedUser>;

/** A group that an identity provider keeps, with the roles that its name gives. */
export const ProvisionedGroup = Type.Object(
  {
    /** The id of the SCIM group. */
    id: Uuid,
    display_name: Type.String(),
    external_id: Nullable(Type.String()),
    member_count: Type.Integer(),
    /** Empty: the name says nothing. A null workspace: the role is in the organization. */
    roles: Type.Array(
      Type.Object({
        workspace_id: Nullable(Uuid),
        workspace_name: Nullable(Type.String()),
        role_id: Uuid,
        role_name: Type.String(),
      }),
    ),
    created_at: Timestamp,
  },
  { $id: 'ProvisionedGroup' },
);
export type ProvisionedGroup = Static<typeof ProvisionedGroup>;

export const ProvisionedQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
  q: Type.Optional(Type.String({ maxLength: 254, description: 'A part of the name; of users also of the address.' })),
});
export type ProvisionedQuery = Static<typeof ProvisionedQuery>;

const workspaceRole = {
  workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
  workspace_name: 'Workspace 1',
  role_id: '5a7d6f2e-0000-4000-8000-000000000012',
  role_name: 'Editor',
};
const exampleUser: ProvisionedUser = {
  id: '2c2e6a0e-58a6-4f3e-9a3b-1d8a3f7f0021',
  identity_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0c001',
  user_name: 'ada',
  external_id: '00u1a2b3',
  email: 'ada@example.com',
  display_name: 'Ada Lovelace',
  is_active: true,
  is_disabled: false,
  role_id: '5a7d6f2e-0000-4000-8000-000000000002',
  role_name: 'Organization User',
  workspaces: [workspaceRole],
  groups: ['Organization User:Workspace 1:Editor'],
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:00.000Z',
};
const exampleGroup: ProvisionedGroup = {
  id: '2c2e6a0e-58a6-4f3e-9a3b-1d8a3f7f0031',
  display_name: 'Organization User:Workspace 1:Editor',
  external_id: null,
  member_count: 1,
  roles: [
    {
      workspace_id: null,
      workspace_name: null,
      role_id: '5a7d6f2e-0000-4000-8000-000000000002',
      role_name: 'Organization User',
    },
    workspaceRole,
  ],
  created_at: '2026-11-20T12:00:00.000Z',
};

const reads = {
  method: 'get',
  tags: ['SCIM'] as string[],
  access: 'principal',
  errors: PlatformErrorResponse,
  permission: 'organization:read',
  refusal: { detail: 'You may not read the organization', code: 'permission_missing' },
  query: ProvisionedQuery,
} as const;
const headers = { 'X-Pagination-Total': 'How many there are in all.' };
const refusals = {
  401: { description: 'No valid credential.', schema: PlatformErrorResponse },
  403: {
    description: 'The caller may not do this.',
    schema: PlatformErrorResponse,
    example: { error: 'You may not read the organization' },
  },
  422: InvalidResponse,
};

/** Users and groups of the identity providers, as the members of the organization see them. */
export const scimProvisionedOperations = PLATFORM_PREFIXES.map(({ prefix, alias }) => ({
  listUsers: defineOperation({
    ...reads,
    operationId: `listProvisionedUsers${alias}`,
    path: `${prefix}/scim/users`,
    summary: 'The users whom identity providers keep, by address, with the roles that they have.',
    responses: {
      200: { description: 'A page.', headers, schema: Type.Array(ProvisionedUser), example: [exampleUser] },
      ...refusals,
    },
  }),
  listGroups: defineOperation({
    ...reads,
    operationId: `listProvisionedGroups${alias}`,
    path: `${prefix}/scim/groups`,
    summary: 'The groups that identity providers keep, by name, with the roles that they give.',
    responses: {
      200: { description: 'A page.', headers, schema: Type.Array(ProvisionedGroup), example: [exampleGroup] },
      ...refusals,
    },
  }),
}));
