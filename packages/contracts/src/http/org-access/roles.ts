import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { OptionalNullable, Uuid } from '../common.ts';
import { ORGANIZATION_PREFIXES } from './paths.ts';
import {
  conflictResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

const AccessScope = Type.Union([Type.Literal('organization'), Type.Literal('workspace')]);

export const Role = Type.Object(
  {
    id: Uuid,
    /** Name of a role of the platform, such as `WORKSPACE_ADMIN`; `CUSTOM` for every custom role. */
    name: Type.String(),
    display_name: Type.String(),
    description: Type.String(),
    /** Null: a role of the platform, which every organization has. */
    organization_id: Type.Union([Uuid, Type.Null()]),
    /** In the order in which they were given. */
    permissions: Type.Array(Type.String()),
    /** They are among its permissions and give nothing: Runyard does not have what they are about. */
    permissions_without_effect: Type.Array(Type.String()),
    access_scope: AccessScope,
  },
  { $id: 'Role' },
);
export type Role = Static<typeof Role>;

const displayName = Type.String({ minLength: 1, maxLength: 100, pattern: '^\\S(.*\\S)?$' });
const description = Type.String({ maxLength: 1000 });
/** Names of workspace permissions: `GET /api/v1/orgs/permissions` lists them. */
const permissions = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200, uniqueItems: true });

export const RoleCreate = Type.Object(
  { display_name: displayName, description: OptionalNullable(description), permissions },
  { $id: 'RoleCreate' },
);
export type RoleCreate = Static<typeof RoleCreate>;

/** A missing or null field changes nothing. */
export const RoleUpdate = Type.Object(
  {
    display_name: OptionalNullable(displayName),
    description: OptionalNullable(description),
    permissions: OptionalNullable(permissions),
  },
  { $id: 'RoleUpdate' },
);
export type RoleUpdate = Static<typeof RoleUpdate>;

export const PermissionMeaning = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    access_scope: AccessScope,
    /** False: roles may have it, and it gives nothing: it is about what LangSmith has and Runyard does not. */
    has_effect: Type.Boolean(),
  },
  { $id: 'PermissionMeaning' },
);
export type PermissionMeaning = Static<typeof PermissionMeaning>;

const example: Role = {
  id: '2c2e6a0e-58a6-4f3e-9a3b-1d8a3f7f0101',
  name: 'CUSTOM',
  display_name: 'Auditor',
  description: 'Reads everything.',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  permissions: ['workspaces:read', 'deployments:read', 'runs:read', 'projects:read'],
  permissions_without_effect: ['projects:read'],
  access_scope: 'workspace',
};
const exampleBody = {
  display_name: example.display_name,
  description: example.description,
  permissions: example.permissions,
};
const roleNotFound = { ...NotFoundResponse, example: { detail: 'Role not found' } };
const nameTaken = conflictResponse('A role is named "Auditor"');
const params = Type.Object({ custom_role_id: Uuid });
/** Operators of an organization, who have the permission too, do not write custom roles. */
const writesRoles = {
  access: 'principal',
  permission: { checkedByService: 'organization:manage', because: 'Operators of the organization may not' },
} as const;

export const listRoles = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    operationId: `listRoles${alias}`,
    method: 'get',
    path: `${prefix}/roles`,
    summary: 'The roles that keys and people can have.',
    tags: ['roles'],
    access: 'principal',
    permission: 'organization:read',
    refusal: { detail: 'You may not read the organization', code: 'permission_missing' },
    responses: {
      200: { description: 'The roles.', schema: Type.Array(Role), example: [example] },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
    },
  }),
);

export const createRole = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineCreation('roles', {
    operationId: `createRole${alias}`,
    method: 'post',
    path: `${prefix}/roles`,
    summary: 'Make a custom role, for use in every workspace. Administrators only.',
    tags: ['roles'],
    ...writesRoles,
    body: RoleCreate,
    responses: {
      200: { description: 'The new role.', schema: Role, example },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      409: nameTaken,
      422: InvalidResponse,
    },
    examples: { body: exampleBody },
  }),
);

export const updateRole = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    operationId: `updateRole${alias}`,
    method: 'patch',
    path: `${prefix}/roles/{custom_role_id}`,
    summary: 'Change a custom role. New permissions hold for all who have it, at once. Administrators only.',
    tags: ['roles'],
    ...writesRoles,
    params,
    body: RoleUpdate,
    responses: {
      200: { description: 'The role after the change.', schema: Role, example },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      404: roleNotFound,
      409: nameTaken,
      422: InvalidResponse,
    },
    examples: { params: { custom_role_id: example.id }, body: exampleBody },
  }),
);

export const deleteRole = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    operationId: `deleteRole${alias}`,
    method: 'delete',
    path: `${prefix}/roles/{custom_role_id}`,
    summary: 'Delete a custom role that nobody has. Administrators only.',
    tags: ['roles'],
    ...writesRoles,
    params,
    responses: {
      200: { description: 'The role as it was.', schema: Role, example },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      404: roleNotFound,
      409: { ...conflictResponse('The role is in use by 1 member: Ada Lovelace'), description: 'Somebody has it.' },
      422: InvalidResponse,
    },
    examples: { params: { custom_role_id: example.id } },
  }),
);

export const listPermissions = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    operationId: `listPermissions${alias}`,
    method: 'get',
    path: `${prefix.replace(/\/current$/, '')}/permissions`,
    summary: 'Every permission and its meaning. Custom roles are made of those of scope `workspace`.',
    tags: ['roles'],
    access: 'principal',
    permission: 'any key',
    responses: {
      200: {
        description: 'The permissions.',
        schema: Type.Array(PermissionMeaning),
        example: [
          {
            name: 'runs:read',
            description: 'See threads, runs, assistants, crons and the store.',
            access_scope: 'workspace',
            has_effect: true,
          },
        ],
      },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
    },
  }),
);
