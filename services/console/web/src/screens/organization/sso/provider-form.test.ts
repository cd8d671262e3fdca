import type { SsoSettings } from '@runyard/contracts';
import { expect, it } from 'vitest';
import { changeOf, creationOf, formOf } from './provider-form.ts';

const FIRST = { roleId: 'editor', workspaceId: 'w1' };
const OIDC: SsoSettings = {
  id: 'p1',
  organization_id: 'o1',
  provider_id: 'p1',
  protocol: 'oidc',
  display_name: 'Company',
  is_enabled: true,
  default_workspace_role_id: 'viewer',
  default_workspace_ids: ['w2'],
  attribute_mapping: { keys: { email: { name: 'mail' }, groups: { name: 'teams', array: true } } },
  email_domains: ['example.com'],
  is_email_trusted: false,
  sso_groups_enabled: true,
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
  callback_url: 'https://agents.example.com/callback/p1',
  has_own_callback: true,
  sp_entity_id: null,
  backchannel_logout_url: null,
  is_from_environment: false,
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:00.000Z',
};

it('a new provider has no field of the other protocol, and none that was left empty', () => {
  const form = { ...formOf(undefined, FIRST), issuerUrl: ' https://id.example.com ', clientId: 'runyard' };
  const made = creationOf({ ...form, clientSecret: 'secret', metadataUrl: 'https://other.example.com' });
  expect(made).toMatchObject({
    issuer_url: 'https://id.example.com',
    client_secret: 'secret',
    default_workspace_role_id: 'editor',
    default_workspace_ids: ['w1'],
  });
  for (const name of ['metadata_url', 'metadata_xml', 'is_response_signed', 'scopes', 'display_name'])
    expect(made).not.toHaveProperty(name);
  const saml = creationOf({ ...form, protocol: 'saml', metadataUrl: 'https://other.example.com' });
  for (const name of ['issuer_url', 'client_id', 'client_secret', 'is_email_trusted', 'metadata_xml'])
    expect(saml).not.toHaveProperty(name);
});

it('a form that nobody changed changes nothing, and keeps the secret', () => {
  expect(changeOf(OIDC, formOf(OIDC, FIRST))).toEqual({});
});

it('a change has the changed fields alone', () => {
  const form = { ...formOf(OIDC, FIRST), domains: 'example.com; example.org\nexample.net', isEnabled: false };
  expect(changeOf(OIDC, form)).toEqual({
    email_domains: ['example.com', 'example.org', 'example.net'],
    is_enabled: false,
  });
});

it('a changed claim leaves the mapping that the form does not show as it is', () => {
  const form = formOf(OIDC, FIRST);
  expect(changeOf(OIDC, { ...form, claims: { ...form.claims, email: '', name: 'cn' } })).toEqual({
    attribute_mapping: { keys: { groups: { name: 'teams', array: true }, name: { name: 'cn' } } },
  });
});

it('another claim of the groups takes the mapping of the one before with it, which the platform would refuse', () => {
  expect(changeOf(OIDC, { ...formOf(OIDC, FIRST), groupsClaim: 'roles' })).toEqual({
    sso_groups_claim_field: 'roles',
    attribute_mapping: { keys: { email: { name: 'mail' } } },
  });
});

it('metadata of SAML moves from its address to a text', () => {
  const saml: SsoSettings = {
    ...OIDC,
    protocol: 'saml',
    issuer_url: null,
    metadata_url: 'https://id.example.com/saml',
  };
  const form = formOf(saml, FIRST);
  expect(changeOf(saml, form)).toEqual({});
  expect(changeOf(saml, { ...form, metadataFrom: 'xml', metadataXml: '<x/>' })).toEqual({ metadata_xml: '<x/>' });
});
