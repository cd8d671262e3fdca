import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import type { PermissionRefusal } from '../../permissions.ts';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import { OrganizationPlan } from '../internal/principal.ts';
import { LinkedLoginMethod } from './member-bodies.ts';
import { ORGANIZATION_PREFIXES, ORGANIZATIONS_PATHS, PLATFORM_PREFIXES } from './paths.ts';
import { conflictResponse, ForbiddenResponse, InvalidResponse, UnauthorizedResponse } from './responses.ts';

/** The switches as they work: both apply to the default organization of the installation alone. */
const EffectiveSwitches = Type.Object(
  {
    /** False in other organizations, and where `SELF_HOSTED_JIT_PROVISIONING_ENABLED` is. */
    jit_provisioning_enabled: Type.Boolean(),
    /** True in other organizations, except personal ones. */
    invites_enabled: Type.Boolean(),
  },
  { $id: 'EffectiveSwitches' },
);

/** Addresses of the installation that have to be entered elsewhere, such as at an identity provider. */
const OrganizationAddresses = Type.Object(
  {
    /** The base URL of the platform, for browsers, SDKs and curl. */
    platform: Type.String(),
    /** The base URL of SCIM. */
    scim: Type.String(),
    /** SAML: the assertion consumer service. */
    saml_consumer: Type.String(),
    /** SAML: the entity id of the platform, and the address of its metadata. */
    saml_entity_id: Type.String(),
    /** Begins sign-in at the identity provider of the organization; null without `sso_login_slug`. */
    sso_login: Nullable(Type.String()),
  },
  { $id: 'OrganizationAddresses' },
);
export type OrganizationAddresses = Static<typeof OrganizationAddresses>;

const expiryDays = 'Days that new keys may live at most; null: any time.';

export const OrganizationInfo = Type.Object(
  {
    id: Uuid,
    display_name: Type.String(),
    /** Always empty. */
    config: Type.Object({}, { additionalProperties: false }),
    is_personal: Type.Boolean(),
    tier: OrganizationPlan,
    /** True for a personal organization, which has one workspace. */
    reached_max_workspaces: Type.Boolean(),
    /** The caller's permissions in the organization. */
    permissions: Type.Array(Type.String()),
    /** Always false. */
    disabled: Type.Boolean(),
    /** Always false: disabled members get no answer. */
    member_disabled: Type.Boolean(),
    /** True: sessions act here only if they are of the organization's identity providers. */
    sso_only: Type.Boolean(),
    /** True when people who sign in by single sign-on are provisioned with the default role and workspaces. */
    jit_provisioning_enabled: Type.Boolean(),
    /** True when people can be invited by hand. */
    invites_enabled: Type.Boolean(),
    effective: EffectiveSwitches,
    /** Names the organization in its single sign-on address; null when it has none. */
    sso_login_slug: Nullable(Type.String()),
    /** Always true: nothing can be shared publicly. */
    public_sharing_disabled: Type.Boolean(),
    /** True when new personal access tokens are forbidden; existing ones stay valid. */
    pat_creation_disabled: Type.Boolean(),
    /** True when administrators of a workspace invite people to it who are not in the organization. */
    workspace_admin_can_invite_to_org: Type.Boolean(),
    /** True when single sign-on provisions people into this organization. */
    default_sso_provision: Type.Boolean(),
    max_api_key_expiry_days: Nullable(Type.Integer({ description: `${expiryDays} Bounds both kinds.` })),
    max_pat_expiry_days: Nullable(Type.Integer({ description: expiryDays })),
    max_service_key_expiry_days: Nullable(Type.Integer({ description: expiryDays })),
    security_contact: Nullable(Type.String()),
    /** Separates the parts of the names of SCIM groups. */
    scim_group_name_separator: Type.String(),
    /** Addresses and networks (CIDR) from which the organization may be used. */
    ip_allowlist: Type.Array(Type.String()),
    ip_allowlist_enabled: Type.Boolean(),
    addresses: OrganizationAddresses,
  },
  { $id: 'OrganizationInfo' },
);
export type OrganizationInfo = Static<typeof OrganizationInfo>;

const limit = () =>
  OptionalNullable(Type.Integer({ minimum: 0, maximum: 36_500, description: 'Days; 0 removes the limit.' }));
const OrganizationName = Type.String({ minLength: 1, maxLength: 200, pattern: '^[a-zA-Z0-9\\-_ ]+$' });
const SecurityContact = Type.String({ maxLength: 254, pattern: '^[^\\u0000-\\u001f]*$' });

/** A missing or null field changes nothing; unknown fields are ignored. */
export const OrganizationUpdate = Type.Object(
  {
    display_name: OptionalNullable(OrganizationName),
    jit_provisioning_enabled: OptionalNullable(Type.Boolean()),
    invites_enabled: OptionalNullable(Type.Boolean()),
    pat_creation_disabled: OptionalNullable(Type.Boolean()),
    /** Only true: nothing can be shared publicly here. */
    public_sharing_disabled: OptionalNullable(Type.Boolean()),
    /** Only true: there is nothing to unshare. */
    unshare_all: OptionalNullable(Type.Boolean()),
    workspace_admin_can_invite_to_org: OptionalNullable(Type.Boolean()),
    /** Sets both limits below. */
    max_api_key_expiry_days: limit(),
    max_pat_expiry_days: limit(),
    max_service_key_expiry_days: limit(),
    /** An address for reports; empty: none. */
    security_contact: OptionalNullable(SecurityContact),
    scim_group_name_separator: OptionalNullable(
      Type.Union([Type.Literal(':'), Type.Literal('-'), Type.Literal('_'), Type.Literal(' '), Type.Literal('&')]),
    ),
    /** The name in the address of sign-in. The five before still lead there, and no other organization gets them. */
    sso_login_slug: OptionalNullable(Type.String({ maxLength: 63, pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' })),
    /** Addresses and networks (CIDR). It must let the caller in. */
    ip_allowlist: OptionalNullable(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 200 })),
    /** Missing with a list: true, unless the list is empty. */
    ip_allowlist_enabled: OptionalNullable(Type.Boolean()),
  },
  { $id: 'OrganizationUpdate' },
);
export type OrganizationUpdate = Static<typeof OrganizationUpdate>;

/** An organization as its members see it. */
export const Organization = Type.Object(
  {
    id: Uuid,
    display_name: Type.String(),
    handle: Nullable(Type.String()),
    created_at: Timestamp,
    is_personal: Type.Boolean(),
    disabled: Type.Boolean(),
    /** Null in lists without `include_tier`. */
    tier: Nullable(OrganizationPlan),
    sso_login_slug: Nullable(Type.String()),
    /** True: a session of another sign-in has to sign in again, by single sign-on. */
    sso_only: Type.Boolean(),
    jit_provisioning_enabled: Type.Boolean(),
    invites_enabled: Type.Boolean(),
    default_sso_provision: Type.Boolean(),
    public_sharing_disabled: Type.Boolean(),
  },
  { $id: 'Organization' },
);
export type Organization = Static<typeof Organization>;

export const OrganizationCreate = Type.Object(
  {
    display_name: OrganizationName,
    /** True: for the caller alone, with one workspace. */
    is_personal: Type.Boolean({ default: false }),
    security_contact: OptionalNullable(SecurityContact),
  },
  { $id: 'OrganizationCreate' },
);
export type OrganizationCreate = Static<typeof OrganizationCreate>;

const exampleInfo: OrganizationInfo = {
  id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  display_name: 'Default',
  config: {},
  is_personal: false,
  tier: 'enterprise',
  reached_max_workspaces: false,
  permissions: ['organization:manage', 'organization:pats:create', 'organization:read'],
  disabled: false,
  member_disabled: false,
  sso_only: false,
  jit_provisioning_enabled: true,
  invites_enabled: true,
  effective: { jit_provisioning_enabled: true, invites_enabled: true },
  sso_login_slug: null,
  public_sharing_disabled: true,
  pat_creation_disabled: false,
  workspace_admin_can_invite_to_org: false,
  default_sso_provision: true,
  max_api_key_expiry_days: null,
  max_pat_expiry_days: null,
  max_service_key_expiry_days: null,
  security_contact: null,
  scim_group_name_separator: ':',
  ip_allowlist: [],
  ip_allowlist_enabled: false,
  addresses: {
    platform: 'https://agents.example.com',
    scim: 'https://agents.example.com/scim/v2',
    saml_consumer: 'https://agents.example.com/auth/v1/sso/saml/acs',
    saml_entity_id: 'https://agents.example.com/auth/v1/sso/saml/metadata',
    sso_login: null,
  },
};
const exampleOrganization: Organization = {
  id: exampleInfo.id,
  display_name: 'Default',
  handle: null,
  created_at: '2026-11-20T12:00:00.000Z',
  is_personal: false,
  disabled: false,
  tier: 'enterprise',
  sso_login_slug: null,
  sso_only: false,
  jit_provisioning_enabled: true,
  invites_enabled: true,
  default_sso_provision: true,
  public_sharing_disabled: true,
};

/** Info is served below a third prefix too. */
const INFO_PREFIXES = [
  ...ORGANIZATION_PREFIXES,
  ...PLATFORM_PREFIXES.map(({ prefix, alias }) => ({ prefix, alias: `OfPlatform${alias}` })),
];

export const getOrganizationInfo = INFO_PREFIXES.map(({ prefix, alias }) =>
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
      409: conflictResponse('Another organization has or had the slug acme'),
      422: InvalidResponse,
    },
    examples: { body: { jit_provisioning_enabled: false, invites_enabled: true } },
  }),
);

const reads = {
  access: 'principal',
  permission: 'organization:read',
  refusal: { detail: 'You may not read the organization', code: 'permission_missing' } as PermissionRefusal,
} as const;
const manages = {
  access: 'principal',
  permission: 'organization:manage',
  refusal: {
    detail: 'Only organization administrators change its settings',
    code: 'organization_admin_required',
  } as PermissionRefusal,
} as const;
const tags = ['organizations'];

export const listMyOrganizations = ORGANIZATIONS_PATHS.map(({ path, alias }) =>
  defineOperation({
    operationId: `listMyOrganizations${alias}`,
    method: 'get',
    path,
    summary: 'The organizations of the signed-in person. A session of an identity provider sees that of the provider.',
    tags,
    access: 'principal',
    permission: 'signed-in person',
    query: Type.Object({
      skip_create: Type.Boolean({
        default: false,
        description: 'True: does not make a personal organization for people without any.',
      }),
      include_tier: Type.Boolean({ default: false }),
    }),
    responses: {
      200: {
        description: 'The organizations, oldest first.',
        schema: Type.Array(Organization),
        example: [exampleOrganization],
      },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      422: InvalidResponse,
    },
  }),
);

export const createOrganization = ORGANIZATIONS_PATHS.map(({ path, alias }) =>
  defineCreation('organizations', {
    operationId: `createOrganization${alias}`,
    method: 'post',
    path,
    summary: 'Make an organization with a workspace. The caller is its administrator.',
    tags,
    access: 'principal',
    permission: 'signed-in person',
    body: OrganizationCreate,
    responses: {
      200: { description: 'The organization.', schema: Organization, example: exampleOrganization },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      409: conflictResponse('You have a personal organization already'),
      422: InvalidResponse,
    },
    examples: { body: { display_name: 'Acme', is_personal: false } },
  }),
);

export const currentOrganizationOperations = ORGANIZATION_PREFIXES.map(({ prefix, alias }) => ({
  get: defineOperation({
    operationId: `getCurrentOrganization${alias}`,
    method: 'get',
    path: prefix,
    summary: "The caller's organization.",
    tags,
    ...reads,
    responses: {
      200: { description: 'The organization.', schema: Organization, example: exampleOrganization },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
    },
  }),
  updateLoginMethods: defineOperation({
    operationId: `updateOrganizationLoginMethods${alias}`,
    method: 'patch',
    path: `${prefix}/login-methods`,
    summary: 'Allow sessions of single sign-on alone, or all. Only who signed in by it switches this on.',
    tags,
    ...manages,
    body: Type.Object({ sso_only: Type.Boolean() }, { $id: 'LoginMethodsUpdate' }),
    responses: {
      200: { description: 'The organization.', schema: OrganizationInfo, example: exampleInfo },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
      422: InvalidResponse,
    },
    examples: { body: { sso_only: false } },
  }),
  setDefault: defineOperation({
    operationId: `setDefaultSsoProvision${alias}`,
    method: 'post',
    path: `${prefix}/set-default-sso-provision`,
    summary:
      'Make this the organization into which sign-in provisions. For administrators of it and of the one before.',
    tags,
    ...manages,
    responses: {
      200: { description: 'The organization.', schema: OrganizationInfo, example: exampleInfo },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
    },
  }),
  myLoginMethods: defineOperation({
    operationId: `listMyLoginMethods${alias}`,
    method: 'get',
    path: `${prefix}/user/login-methods`,
    summary: 'The ways in which the caller signs in. None for service accounts.',
    tags,
    access: 'principal',
    permission: 'any key',
    responses: {
      200: { description: 'The login methods, oldest first.', schema: Type.Array(LinkedLoginMethod), example: [] },
      401: UnauthorizedResponse,
      403: ForbiddenResponse,
    },
  }),
}));
