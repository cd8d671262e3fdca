import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SsoSettings, SsoTestResult } from '@runyard/contracts';
import { makeSamlSigner, samlMetadataOf } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestOidcProvider } from './support/oidc-identity-provider.ts';
import { TestOrgAccess } from './support/platform.ts';

const PATH = '/api/v1/orgs/current/sso-settings';
const ALIAS = '/api/v1/organizations/current/sso-settings';

let platform: TestOrgAccess;
let oidc: TestOidcProvider;
beforeAll(async () => {
  oidc = await TestOidcProvider.start();
  platform = await TestOrgAccess.start({ environment: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' } });
});
afterAll(async () => {
  await platform?.close();
  await oidc?.close();
});

const create = async (body: object) => {
  const answer = await platform.asAdmin<SsoSettings>('POST', PATH, {
    default_workspace_role_id: PLATFORM_ROLES.workspaceEditor,
    default_workspace_ids: [platform.bootstrap.workspace_id],
    ...body,
  });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const createOidc = (change: object = {}) =>
  create({ issuer_url: oidc.issuer, client_id: 'runyard', client_secret: 'a secret', ...change });
const test = async ({ id }: SsoSettings, path = PATH) => {
  const answer = await platform.asAdmin<SsoTestResult>('POST', `${path}/${id}/test`);
  expect(answer).toMatchObject({ status: 200 });
  return { ok: answer.body.ok, checks: Object.fromEntries(answer.body.checks.map((each) => [each.check, each])) };
};

/** Serves one text at every path, while `use` runs. */
async function serving(answer: (origin: string) => string, use: (origin: string, server: Server) => Promise<void>) {
  const server = createServer((req, res) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end(answer(`http://${req.headers.host}`)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('the test of an identity provider', () => {
  it('passes one of OIDC that works, under both prefixes and while it is switched off', async () => {
    const provider = await createOidc({ is_enabled: false });
    for (const path of [PATH, ALIAS])
      expect(await test(provider, path)).toMatchObject({
        ok: true,
        checks: {
          discovery: { outcome: 'passed' },
          endpoints: { outcome: 'passed' },
          keys: { outcome: 'passed', detail: 'One key to sign with can be read.' },
          client: { outcome: 'passed' },
        },
      });
  });

  it('says that nobody answers, and that a document is of another issuer', async () => {
    const silent = await createOidc({ issuer_url: 'http://127.0.0.1:9' });
    expect(await test(silent)).toMatchObject({
      ok: false,
      checks: {
        discovery: { outcome: 'failed', detail: 'http://127.0.0.1:9 does not answer.' },
        client: { outcome: 'skipped' },
      },
    });
    await serving(
      () => JSON.stringify({ issuer: oidc.issuer }),
      async (origin) => {
        const other = await createOidc({ issuer_url: origin });
        const { discovery } = (await test(other)).checks;
        expect(discovery).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('another issuer') });
      },
    );
  });

  it('goes to no address that a provider names in a network that is not allowed', async () => {
    const document = (origin: string) =>
      JSON.stringify({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: 'https://10.0.0.1/token',
        jwks_uri: 'https://169.254.169.254/latest',
      });
    await serving(document, async (origin) => {
      const { ok, checks } = await test(await createOidc({ issuer_url: origin }));
      expect({ ok, checks }).toMatchObject({
        ok: false,
        checks: { endpoints: { outcome: 'failed' }, keys: { outcome: 'failed' }, client: { outcome: 'skipped' } },
      });
      expect(checks.keys!.detail).toMatch(/blocked/);
    });
  });

  it('reads the metadata of SAML anew', async () => {
    const signer = makeSamlSigner();
    const metadata = () =>
      samlMetadataOf({ entityId: 'https://idp.example.com', signInUrl: 'https://idp.example.com/sso', signer });
    let provider: SsoSettings;
    await serving(metadata, async (origin) => {
      provider = await create({ metadata_url: `${origin}/metadata` });
      expect(await test(provider)).toMatchObject({
        ok: true,
        checks: {
          metadata: { outcome: 'passed' },
          sign_in: { detail: 'Browsers are sent to https://idp.example.com/sso.' },
          certificates: { outcome: 'warning' },
        },
      });
    });
    expect(await test(provider!)).toMatchObject({ ok: false, checks: { metadata: { outcome: 'failed' } } });
    const byText = await create({ metadata_xml: metadata() });
    expect(await test(byText)).toMatchObject({ ok: true });
  });

  it('is for administrators of the organization alone, and changes nothing', async () => {
    const provider = await createOidc();
    const { key } = await platform.issue({ org_role_id: PLATFORM_ROLES.organizationOperator });
    expect((await platform.call(key, 'POST', `${PATH}/${provider.id}/test`)).status).toBe(403);
    const missing = await platform.asAdmin('POST', `${PATH}/${PLATFORM_ROLES.organizationUser}/test`);
    expect(missing).toMatchObject({ status: 404, body: { detail: 'Identity provider not found' } });
    await test(provider);
    const { body } = await platform.asAdmin<SsoSettings[]>('GET', PATH);
    expect(body.find(({ id }) => id === provider.id)).toEqual(provider);
  });
});
