import Type, { type Static } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { Uuid } from '../common.ts';
import { ORGANIZATION_PREFIXES } from './paths.ts';
import { ForbiddenResponse, InvalidResponse, UnauthorizedResponse } from './responses.ts';

export const OrganizationInfo = Type.Object(
  {
    id: Uuid,
    display_name: Type.String(),
    is_personal: Type.Boolean(),
    /** True when people who sign in by single sign-on are provisioned with the default role and workspaces. */
    jit_provisioning_enabled: Type.Boolean(),
    /** True when people can be invited by hand. */
    invites_enabled: Type.Boolean(),
    /** Names the organization in its single sign-on address; null when it has none. */
    sso_login_slug: Type.Union([Type.String(), Type.Null()]),
    /** True when new personal access tokens are forbidden; existing ones stay valid. */
    pat_creation_disabled: Type.Boolean(),
    /** True when single sign-on provisions people into this organization. */
    default_sso_provision: Type.Boolean(),
    /** The caller's permissions in the organization. */
    permissions: Type.Array(Type.String()),
  },
  { $id: 'OrganizationInfo' },
);
export type OrganizationInfo = Static<typeof OrganizationInfo>;

const change = <T extends Type.TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

/** A missing or null field changes nothing; unknown fields are ignored. */
export const OrganizationUpdate = Type.Object(
  {
    display_name: change(Type.String({ minLength: 1, maxLength: 200, pattern: '^[a-zA-Z0-9\\-_ ]+$' })),
    jit_provisioning_enabled: change(Type.Boolean()),
    invites_enabled: change(Type.Boolean()),
    pat_creation_disabled: change(Type.Boolean()),
  },
  { $id: 'OrganizationUpdate' },
);
export type OrganizationUpdate = Static<typeof OrganizationUpdate>;

const exampleInfo: OrganizationInfo = {
  id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  display_name: 'Default',
  is_personal: false,
  jit_provisioning_enabled: true,
  invites_enabled: true,
  sso_login_slug: null,
  pat_creation_disabled: false,
  default_sso_provision: true,
  permissions: ['organization:manage', 'organization:pats:create', 'organization:read'],
};

export const getOrganizationInfo = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    operationId: `getOrganizationInfo${alias}`,
    method: 'get',
    path: `${prefix}/info`,
    summary: "The caller's organization and its settings.",
    tags: ['organizations'],
    access: 'principal',
    permission: 'organization:read',
    refusal: { detail: 'You may not read the organization', code: 'permission_missing' },
    responses: {
      200: { description: 'The organization.', schema: OrganizationInfo, example: exampleInfo },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
    },
  }),
);

export const updateOrganizationInfo = ORGANIZATION_PREFIXES.map(({ prefix, alias }) =>
  defineOperation({
    operationId: `updateOrganizationInfo${alias}`,
    method: 'patch',
    path: `${prefix}/info`,
    summary: 'Change the settings of the organization. Administrators only.',
    tags: ['organizations'],
    access: 'principal',
    permission: 'organization:manage',
    refusal: { detail: 'Only organization administrators change its settings', code: 'organization_admin_required' },
    body: OrganizationUpdate,
    responses: {
      200: { description: 'The organization after the change.', schema: OrganizationInfo, example: exampleInfo },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      422: InvalidResponse,
    },
    examples: { body: { jit_provisioning_enabled: false, invites_enabled: true } },
  }),
);
