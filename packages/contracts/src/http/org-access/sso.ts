import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Nullable, Timestamp, Uuid } from '../common.ts';
import { ORGANIZATION_PREFIXES } from './paths.ts';
import { ForbiddenResponse, InvalidResponse, UnauthorizedResponse } from './responses.ts';

const Url = Type.String({ minLength: 1, maxLength: 2048 });

/** `{keys: {attribute: {name, array}}}`: which claim of the provider an attribute of the person is read from. */
export const SsoAttributeMapping = Type.Object(
  {
    keys: Type.Record(
      Type.String({ minLength: 1, maxLength: 200 }),
      Type.Object(
        {
          name: Type.String({
            minLength: 1,
            maxLength: 500,
            description: "The provider's claim or SAML attribute.",
          }),
          array: Type.Optional(Type.Boolean({ description: 'True: all values are read; otherwise the first.' })),
        },
        { additionalProperties: false },
      ),
      { maxProperties: 20 },
    ),
  },
  { $id: 'SsoAttributeMapping', additionalProperties: false },
);
export type SsoAttributeMapping = Static<typeof SsoAttributeMapping>;

const settings = {
  display_name: Type.String({ minLength: 1, maxLength: 200 }),
  is_enabled: Type.Boolean({ description: 'False: nobody signs in by it.' }),
  default_workspace_role_id: Type.String({
    format: 'uuid',
    description: 'Role of people who are provisioned at sign-in, in every default workspace.',
  }),
  default_workspace_ids: Type.Array(Uuid, {
    minItems: 1,
    maxItems: 100,
    description: 'Workspaces of people who are provisioned at sign-in. Changes affect new people only.',
  }),
  attribute_mapping: SsoAttributeMapping,
  email_domains: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
    maxItems: 100,
    description:
      'People with addresses of these domains are sent to the provider. Outside of the default organization each needs a TXT record `runyard-sso=<organization id>` at `_runyard-sso.<domain>`.',
  }),
  is_email_trusted: Type.Boolean({
    description: 'OIDC: True when addresses count as verified without the claim `email_verified`.',
  }),
  sso_groups_enabled: Type.Boolean({ description: 'True: groups of the provider give roles at sign-in.' }),
  sso_groups_claim_field: Type.String({ minLength: 1, maxLength: 500 }),
  sso_groups_required: Type.Boolean({
    description: 'True: only people with a group whose name gives a role may sign in.',
  }),
  sso_groups_role_sync_enabled: Type.Boolean({
    description: 'False: groups give roles at the first sign-in only.',
  }),
  issuer_url: Type.String({ ...Url, description: 'OIDC: where the provider is discovered.' }),
  client_id: Type.String({ minLength: 1, maxLength: 1024 }),
  scopes: Type.String({ minLength: 1, maxLength: 1024, description: 'OIDC: separated by spaces.' }),
  logout_at_provider: Type.Boolean({ description: 'OIDC: True when signing out here signs out at the provider too.' }),
  metadata_url: Type.String({ ...Url, description: 'SAML: the metadata of the provider, fetched daily.' }),
  metadata_xml: Type.String({ minLength: 1, maxLength: 500_000, description: 'SAML: the metadata itself.' }),
  is_response_signed: Type.Boolean({
    description: 'SAML: True when responses must be signed as well as their assertions.',
  }),
  idp_initiated_enabled: Type.Boolean({
    description:
      "SAML: True when sign-in may begin at the provider; default false. Any page can then sign a browser in with an answer that is somebody else's.",
  }),
};

/** OIDC: `issuer_url`, `client_id` and `client_secret`. SAML: `metadata_url` or `metadata_xml`. */
export const SsoSettingsCreate = Type.Object(
  {
    ...Type.Partial(Type.Object(settings)).properties,
    default_workspace_role_id: settings.default_workspace_role_id,
    default_workspace_ids: settings.default_workspace_ids,
    client_secret: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  },
  { $id: 'SsoSettingsCreate', additionalProperties: false },
);
export type SsoSettingsCreate = Static<typeof SsoSettingsCreate>;

export const SsoSettingsUpdate = Type.Object(
  {
    ...Type.Partial(Type.Object(settings)).properties,
    client_secret: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    has_own_callback: Type.Optional(
      Type.Literal(true, {
        description:
          'OIDC: moves a provider of an earlier release to an address of its own. Register that at the provider first: `callback_url` and the id of the provider.',
      }),
    ),
  },
  { $id: 'SsoSettingsUpdate', additionalProperties: false },
);
export type SsoSettingsUpdate = Static<typeof SsoSettingsUpdate>;

export const SsoSettings = Type.Object(
  {
    id: Uuid,
    organization_id: Uuid,
    provider_id: Uuid,
    protocol: Type.Union([Type.Literal('oidc'), Type.Literal('saml')]),
    ...settings,
    attribute_mapping: Nullable(SsoAttributeMapping),
    issuer_url: Nullable(Type.String()),
    client_id: Nullable(Type.String()),
    scopes: Nullable(Type.String()),
    logout_at_provider: Type.Boolean(),
    metadata_url: Nullable(Type.String()),
    metadata_xml: Nullable(Type.String()),
    /** OIDC: where the provider sends people back to. SAML: the assertion consumer service. */
    callback_url: Type.String(),
    has_own_callback: Type.Boolean({
      description:
        'OIDC: True when `callback_url` is of this provider alone. A provider of an earlier release moves to one with a new `issuer_url`, or when this is set.',
    }),
    /** SAML: the entity id of this service provider, and the address of its metadata. */
    sp_entity_id: Nullable(Type.String()),
    /** OIDC: where the provider tells that somebody signed out. */
    backchannel_logout_url: Nullable(Type.String()),
    /** True when it comes from the variables of the installation, which then decide on its connection. */
    is_from_environment: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'SsoSettings' },
);
export type SsoSettings = Static<typeof SsoSettings>;

export const SsoProviderSlim = Type.Object(
  { provider_id: Uuid, organization_id: Uuid, organization_display_name: Type.String() },
  { $id: 'SsoProviderSlim' },
);
export type SsoProviderSlim = Static<typeof SsoProviderSlim>;

const example: SsoSettings = {
  id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0f001',
  organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
  provider_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0f001',
  protocol: 'oidc',
  display_name: 'Company account',
  is_enabled: true,
  default_workspace_role_id: '5a7d6f2e-0000-4000-8000-000000000012',
  default_workspace_ids: ['6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001'],
  attribute_mapping: null,
  email_domains: ['example.com'],
  is_email_trusted: false,
  sso_groups_enabled: false,
  sso_groups_claim_field: 'groups',
  sso_groups_required: false,
  sso_groups_role_sync_enabled: true,
  issuer_url: 'https://id.example.com',
  client_id: 'runyard',
  scopes: 'openid email profile',
  logout_at_provider: false,
  metadata_url: null,
  metadata_xml: null,
  is_response_signed: false,
  idp_initiated_enabled: false,
  callback_url: 'https://agents.example.com/api/v1/oauth/custom-oidc/callback/6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0f001',
  has_own_callback: true,
  sp_entity_id: null,
  backchannel_logout_url: 'https://agents.example.com/api/v1/oauth/custom-oidc/backchannel-logout',
  is_from_environment: false,
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:00.000Z',
};

const exampleCreate: SsoSettingsCreate = {
  default_workspace_role_id: example.default_workspace_role_id,
  default_workspace_ids: example.default_workspace_ids,
  issuer_url: 'https://id.example.com',
  client_id: 'runyard',
  client_secret: 'a secret of the provider',
};

const access = {
  tags: ['sso'] as string[],
  access: 'principal',
  permission: 'organization:manage',
  refusal: { detail: 'Only organization administrators set up single sign-on', code: 'organization_admin_required' },
} as const;
const refusals = { 401: UnauthorizedResponse, 403: ForbiddenResponse };
const NotFound = {
  description: 'The organization has no such provider.',
  schema: ErrorResponse,
  example: { detail: 'Identity provider not found' },
};
const Conflict = {
  description: 'The state of the organization forbids it.',
  schema: ErrorResponse,
  example: { detail: 'The identity provider comes from the variables of the installation' },
};
const one = { description: 'The identity provider.', schema: SsoSettings, example };
const params = Type.Object({ sso_provider_id: Uuid });

/** The identity providers of an organization, under both prefixes. */
export const ssoSettingsOperations = ORGANIZATION_PREFIXES.map(({ prefix, alias }) => ({
  list: defineOperation({
    ...access,
    operationId: `listSsoSettings${alias}`,
    method: 'get',
    path: `${prefix}/sso-settings`,
    summary: 'The identity providers of the organization. Administrators only.',
    responses: {
      200: {
        description: 'The identity providers, oldest first.',
        schema: Type.Array(SsoSettings),
        example: [example],
      },
      ...refusals,
    },
  }),
  create: defineCreation('sso settings', {
    ...access,
    operationId: `createSsoSettings${alias}`,
    method: 'post',
    path: `${prefix}/sso-settings`,
    summary: 'Add an identity provider. Administrators only.',
    body: SsoSettingsCreate,
    responses: { 201: one, ...refusals, 422: InvalidResponse },
    examples: { body: exampleCreate },
  }),
  update: defineOperation({
    ...access,
    operationId: `updateSsoSettings${alias}`,
    method: 'patch',
    path: `${prefix}/sso-settings/{sso_provider_id}`,
    summary: 'Change an identity provider. Administrators only.',
    params,
    body: SsoSettingsUpdate,
    responses: { 200: one, ...refusals, 404: NotFound, 409: Conflict, 422: InvalidResponse },
    examples: { body: { sso_groups_enabled: true } },
  }),
  delete: defineOperation({
    ...access,
    operationId: `deleteSsoSettings${alias}`,
    method: 'delete',
    path: `${prefix}/sso-settings/{sso_provider_id}`,
    summary: 'Remove an identity provider, with the sessions that began there. Administrators only.',
    params,
    responses: { 200: one, ...refusals, 404: NotFound, 409: Conflict },
  }),
}));

const slim = {
  description: 'The providers; empty when there are none.',
  schema: Type.Array(SsoProviderSlim),
  example: [
    {
      provider_id: example.id,
      organization_id: example.organization_id,
      organization_display_name: 'Default',
    },
  ],
};

export const getSsoSettingsBySlug = defineOperation({
  operationId: 'getSsoSettingsBySlug',
  method: 'get',
  path: '/api/v1/sso/settings/{sso_login_slug}',
  summary: 'The identity providers of the organization with this slug, for sign-in.',
  tags: ['sso'],
  access: 'public',
  params: Type.Object({ sso_login_slug: Type.String({ minLength: 1, maxLength: 200 }) }),
  responses: { 200: slim, 422: InvalidResponse },
});

export const lookUpSsoEmail = defineOperation({
  operationId: 'lookUpSsoEmail',
  method: 'post',
  path: '/api/v1/sso/email-lookup',
  summary: 'The identity providers for the domain of an address, for sign-in. Says nothing about the person.',
  tags: ['sso'],
  access: 'public',
  body: Type.Object({ email: Type.String({ minLength: 3, maxLength: 320 }) }, { $id: 'SsoEmailLookupRequest' }),
  bodyLimitBytes: 16_384,
  responses: { 200: slim, 422: InvalidResponse },
  examples: { body: { email: 'ada@example.com' } },
});
