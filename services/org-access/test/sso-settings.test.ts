import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OrganizationInfo, SsoProviderSlim, SsoSettings } from '@runyard/contracts';
import { makeSamlSigner, samlMetadataOf } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestOrgAccess } from './support/platform.ts';

const PATH = '/api/v1/orgs/current/sso-settings';
const ALIAS = '/api/v1/organizations/current/sso-settings';
const SECRET = 'client secret canary 7f3a';

const TEST_SIGNER = makeSamlSigner();

let platform: TestOrgAccess;
let metadataServer: Server;
let metadataUrl: string;
beforeAll(async () => {
  metadataServer = createServer((_, res) =>
    res.end(
      samlMetadataOf({
        entityId: 'https://idp.example.com',
        signInUrl: 'https://idp.example.com/sso',
        signer: TEST_SIGNER,
      }),
    ),
  );
  await new Promise<void>((resolve) => metadataServer.listen(0, '127.0.0.1', resolve));
  metadataUrl = `http://127.0.0.1:${(metadataServer.address() as AddressInfo).port}/metadata`;
  platform = await TestOrgAccess.start({ environment: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' } });
});
afterAll(async () => {
  await platform?.close();
  metadataServer?.close();
});

const defaults = () => ({
  default_workspace_role_id: PLATFORM_ROLES.workspaceEditor,
  default_workspace_ids: [platform.bootstrap.workspace_id],
});
const oidc = (change: object = {}) => ({
  ...defaults(),
  issuer_url: 'https://id.example.com',
  client_id: 'runyard',
  client_secret: SECRET,
  ...change,
});
const create = async (body: object) => {
  const answer = await platform.asAdmin<SsoSettings>('POST', PATH, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const field = (name: string) => ({ status: 422, body: { detail: [{ loc: ['body', name] }] } });

describe('settings of single sign-on', () => {
  it('are made for twenty providers of an organization at most, also by many requests at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 22 }, (_, index) =>
        platform.asAdmin<SsoSettings>('POST', PATH, oidc({ client_id: `client ${index}` })),
      ),
    );
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.id);
    expect(made).toHaveLength(20);
    expect(answers.find(({ status }) => status !== 201)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body'] }] },
    });
    for (const id of made) await platform.asAdmin('DELETE', `${PATH}/${id}`);
  });

  it('are made, listed, changed and deleted under both prefixes, audited, and show no secret anywhere', async () => {
    const made = await create(oidc({ email_domains: ['Example.COM'], display_name: 'Company' }));
    expect(made).toMatchObject({
      protocol: 'oidc',
      scopes: 'openid email profile',
      email_domains: ['example.com'],
      sso_groups_enabled: false,
      sso_groups_claim_field: 'groups',
      sso_groups_required: false,
      sso_groups_role_sync_enabled: true,
    });
    expect(made.callback_url).toMatch(new RegExp(`/api/v1/oauth/custom-oidc/callback/${made.id}$`));
    const changed = await platform.asAdmin<SsoSettings>('PATCH', `${ALIAS}/${made.id}`, { sso_groups_enabled: true });
    expect(changed).toMatchObject({
      status: 200,
      body: { ...made, sso_groups_enabled: true, updated_at: expect.any(String) },
    });
    expect((await platform.asAdmin<SsoSettings[]>('GET', ALIAS)).body.map(({ id }) => id)).toContain(made.id);
    expect((await platform.asAdmin('DELETE', `${PATH}/${made.id}`)).status).toBe(200);
    expect((await platform.asAdmin('PATCH', `${PATH}/${made.id}`, {})).status).toBe(404);
    const dump = await platform.dump();
    expect(dump).not.toContain(SECRET);
    expect(platform.output()).not.toContain(SECRET);
    for (const action of ['created', 'updated', 'deleted']) expect(dump).toContain(`sso_provider.${action}`);
  });

  it('that two administrators change at once keep both changes', async () => {
    const made = await create(oidc());
    const patch = (body: object) => platform.asAdmin('PATCH', `${PATH}/${made.id}`, body);
    const changes = [
      { scopes: 'openid email' },
      { client_id: 'another' },
      { logout_at_provider: true },
      { display_name: 'Company' },
      { sso_groups_claim_field: 'teams' },
    ];
    for (const { status } of await Promise.all(changes.map(patch))) expect(status).toBe(200);
    const { body } = await platform.asAdmin<SsoSettings[]>('GET', PATH);
    expect(body.find(({ id }) => id === made.id)).toMatchObject(Object.assign({}, ...changes));
    await platform.asAdmin('DELETE', `${PATH}/${made.id}`);
  });

  it('of SAML are read from metadata given as text or fetched from an address', async () => {
    const xml = samlMetadataOf({
      entityId: 'https://text.example.com',
      signInUrl: 'https://text.example.com/sso',
      signer: TEST_SIGNER,
    });
    const byText = await create({ ...defaults(), metadata_xml: xml });
    expect(byText).toMatchObject({
      protocol: 'saml',
      metadata_xml: xml,
      metadata_url: null,
      idp_initiated_enabled: false,
    });
    expect(byText.sp_entity_id).toMatch(/\/auth\/v1\/sso\/saml\/metadata$/);
    const byUrl = await create({ ...defaults(), metadata_url: metadataUrl });
    expect(byUrl).toMatchObject({ protocol: 'saml', metadata_xml: null, metadata_url: metadataUrl });
    for (const { id } of [byText, byUrl]) await platform.asAdmin('DELETE', `${PATH}/${id}`);
  });

  it('are refused with the name of the field that is wrong', async () => {
    const { client_secret: _, ...withoutSecret } = oidc();
    const wrong: [object, string][] = [
      [defaults(), 'issuer_url'],
      [withoutSecret, 'client_secret'],
      [oidc({ default_workspace_role_id: PLATFORM_ROLES.organizationUser }), 'default_workspace_role_id'],
      [oidc({ default_workspace_ids: [] }), 'default_workspace_ids'],
      [oidc({ default_workspace_ids: [PLATFORM_ROLES.workspaceEditor] }), 'default_workspace_ids'],
      [oidc({ issuer_url: 'http://id.example.com' }), 'issuer_url'],
      [oidc({ issuer_url: 'https://10.0.0.1' }), 'issuer_url'],
      [oidc({ scopes: 'email' }), 'scopes'],
      [oidc({ email_domains: ['no domain'] }), 'email_domains'],
      [oidc({ attribute_mapping: { keys: { shoe_size: { name: 'size' } } } }), 'attribute_mapping'],
      [oidc({ is_response_signed: true }), 'is_response_signed'],
      [oidc({ unknown: true }), 'unknown'],
      [{ ...defaults(), metadata_xml: '<!DOCTYPE x><x/>' }, 'metadata_xml'],
      [{ ...defaults(), metadata_xml: 'not XML' }, 'metadata_xml'],
      [{ ...defaults(), metadata_url: 'https://169.254.169.254/latest' }, 'metadata_url'],
      [{ ...defaults(), metadata_url: 'http://127.0.0.1:9/none' }, 'metadata_url'],
    ];
    for (const [body, name] of wrong)
      expect(await platform.asAdmin('POST', PATH, body), JSON.stringify(body)).toMatchObject(field(name));
    const made = await create(oidc());
    const moved = await platform.asAdmin('PATCH', `${PATH}/${made.id}`, { issuer_url: 'https://other.example.com' });
    expect(moved, 'a secret is not sent to another issuer').toMatchObject(field('client_secret'));
    await platform.asAdmin('DELETE', `${PATH}/${made.id}`);
  });

  it('are for administrators: neither operators nor users change or read them', async () => {
    for (const org_role_id of [PLATFORM_ROLES.organizationOperator, PLATFORM_ROLES.organizationUser]) {
      const { key } = await platform.issue({ org_role_id });
      for (const [method, path, body] of [
        ['GET', PATH, undefined],
        ['POST', PATH, oidc()],
        ['PATCH', `${PATH}/${PLATFORM_ROLES.organizationUser}`, {}],
        ['DELETE', `${PATH}/${PLATFORM_ROLES.organizationUser}`, undefined],
      ] as const)
        expect((await platform.call(key, method, path, body)).status).toBe(403);
    }
  });
});

describe('before sign-in', () => {
  it('the providers of an organization are found by its slug and by the domain of an address, while they are enabled', async () => {
    const made = await create(oidc({ email_domains: ['example.com'] }));
    const { body: info } = await platform.asAdmin<OrganizationInfo>('GET', '/api/v1/orgs/current/info');
    expect(info.sso_login_slug).toMatch(/^default/);
    const slim = { provider_id: made.id, organization_id: info.id, organization_display_name: info.display_name };
    const bySlug = () => platform.anonymous<SsoProviderSlim[]>('GET', `/api/v1/sso/settings/${info.sso_login_slug}`);
    const byEmail = (email: string) =>
      platform.anonymous<SsoProviderSlim[]>('POST', '/api/v1/sso/email-lookup', { email });
    expect((await bySlug()).body).toEqual([slim]);
    expect((await byEmail('Somebody@EXAMPLE.com')).body).toEqual([slim]);
    expect((await byEmail('somebody@sub.example.com')).body).toEqual([]);
    expect((await platform.anonymous('GET', '/api/v1/sso/settings/nobody')).body).toEqual([]);
    await platform.asAdmin('PATCH', `${PATH}/${made.id}`, { is_enabled: false });
    expect((await bySlug()).body).toEqual([]);
    expect((await byEmail('somebody@example.com')).body).toEqual([]);
  });
});

describe('the login slug of an organization', () => {
  const INFO = '/api/v1/organizations/current/info';
  const change = (sso_login_slug: unknown) => platform.asAdmin<OrganizationInfo>('PATCH', INFO, { sso_login_slug });
  const leadsTo = async (slug: string) =>
    (await platform.anonymous<SsoProviderSlim[]>('GET', `/api/v1/sso/settings/${slug}`)).body.map(
      ({ organization_id }) => organization_id,
    );

  it('changes, and the five before lead to the organization still', async () => {
    const { id } = await create(oidc());
    const own = [platform.bootstrap.organization_id];
    for (const slug of ['a-0', 'a-1', 'a-2', 'a-3', 'a-4', 'a-5', 'a-6']) {
      expect(await change(slug)).toMatchObject({ status: 200, body: { sso_login_slug: slug } });
    }
    expect(await Promise.all(['a-6', 'A-5', 'a-1'].map(leadsTo))).toEqual([own, own, own]);
    expect(await leadsTo('a-0')).toEqual([]);
    const page = await fetch(`${platform.service.url}/auth/v1/sso/login/a-2`, { redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([303, expect.stringContaining(id)]);
    expect((await change('a-2')).status, 'its own former one').toBe(200);
    expect((await change(null)).body.sso_login_slug).toBe('a-2');
    await platform.asAdmin('DELETE', `${PATH}/${id}`);
  });

  it('is refused in another form, as a page of ours, or when another organization has or had it', async () => {
    for (const slug of ['', 'Acme', 'a b', '-a', 'a-', 'a--b', 'ä', 'a'.repeat(64), 'invite', 7])
      expect(await change(slug)).toMatchObject(field('sso_login_slug'));
    const [{ id }] = (await platform.query<{ id: string }>(
      `INSERT INTO organization (id, display_name, sso_login_slug) VALUES (gen_random_uuid(), 'Other', 'theirs')
       RETURNING id::text`,
    )) as [{ id: string }];
    await platform.query(`INSERT INTO former_login_slug (slug, organization_id) VALUES ('was-theirs', $1::uuid)`, [id]);
    for (const slug of ['theirs', 'was-theirs'])
      expect(await change(slug)).toMatchObject({ status: 409, body: { detail: expect.stringContaining(slug) } });
    expect((await change('a-2')).body.sso_login_slug).toBe('a-2');
  });

  it('that many requests change at once is the one of the last, and the others lead there too', async () => {
    const slugs = ['b-1', 'b-2', 'b-3', 'b-4'];
    const answers = await Promise.all(slugs.map(change));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await platform.asAdmin<OrganizationInfo>('GET', INFO);
    expect(slugs).toContain(body.sso_login_slug);
    const former = await platform.query<{ slug: string }>(`SELECT slug FROM former_login_slug WHERE slug LIKE 'b-%'`);
    expect([...former.map(({ slug }) => slug), body.sso_login_slug].sort()).toEqual(slugs);
  });
});
