import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Uuid } from '../common.ts';
import { ORGANIZATION_PREFIXES } from './paths.ts';
import { ForbiddenResponse, UnauthorizedResponse } from './responses.ts';

export const Role = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    display_name: Type.String(),
    description: Type.String(),
    /** Null: a role of the platform, which every organization has. */
    organization_id: Type.Union([Uuid, Type.Null()]),
    permissions: Type.Array(Type.String()),
    access_scope: Type.Union([Type.Literal('organization'), Type.Literal('workspace')]),
  },
  { $id: 'Role' },
);
export type Role = Static<typeof Role>;

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
      200: { description: 'The roles.', schema: Type.Array(Role) },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
    },
  }),
);
