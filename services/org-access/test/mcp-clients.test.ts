import { PUBLIC_SERVICES } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import {
  AUTHORIZE,
  answerQuestion,
  FakeDeployments,
  McpClient,
  REDIRECT_URI,
  type Tokens,
} from './support/mcp-client.ts';
import { PageClient } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const ISSUER = 'http://localhost:2024';

let deployments: FakeDeployments;
let platform: TestOrgAccess;
let people: TestPeople;
beforeAll(async () => {
  deployments = await FakeDeployments.start();
  platform = await TestOrgAccess.start({ environment: { CONTROL_PLANE_URL: deployments.url } });
  people = await TestPeople.open(platform);
});
afterAll(async () => {
  await people?.close();
  await platform?.close();
  await deployments?.close();
});

/** Signs a new member of a new organization in, who reaches the MCP server of a deployment. */
async function signIn() {
  const owner = await people.addOrganization();
  const personId = await people.addPerson();
  const { workspaceId } = owner;
  await people.addMember(personId, owner.organizationId, [{ workspaceId, roleId: PLATFORM_ROLES.workspaceUser }]);
  const { id: sessionId, token } = await people.signIn(personId);
  const browser = new PageClient(platform.service.url);
  browser.cookies.set('runyard_session', token);
  return { ...owner, personId, sessionId, browser, resource: deployments.add(owner) };
}

async function newClient(): Promise<McpClient> {
  const client = new McpClient(platform.service.url);
  expect((await client.register()).status).toBe(201);
  return client;
}

/** Lets a new client use the MCP server of a new member. */
async function allow() {
  const [person, client] = [await signIn(), await newClient()];
  const { code = '' } = await answerQuestion(person.browser, await person.browser.open(client.askAt(person.resource)));
  return { ...person, client, code };
}
const audienceOf = (resource: string) => `deployment:${deployments.idAt(resource)}`;
const errorOf = async (answer: Promise<{ status: number; body: Tokens }>) => {
  const { status, body } = await answer;
  return [status, body.error];
};
const auditOf = (organizationId: string) =>
  platform.query<{ action: string; details: Record<string, unknown> }>(
    'SELECT action, details FROM audit_event WHERE organization_id = $1::uuid ORDER BY sequence',
    [organizationId],
  );

describe('an MCP client that a person lets use a deployment', () => {
  it('gets tokens that are good for that deployment alone, as a session of its own', async () => {
    const [{ browser, resource, organizationId, personId, workspaceId }, client] = [await signIn(), await newClient()];
    const question = await browser.open(client.askAt(resource));
    expect(question.text).toContain('Let An editor use support?');
    expect(question.headers['content-security-policy']).toContain("form-action 'self' http://127.0.0.1:33418");
    const { code, ...rest } = await answerQuestion(browser, question);
    expect(rest).toEqual({ state: 'the state', iss: ISSUER });

    const { status, body } = await client.redeem(code!, { resource });
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: 900,
        refresh_token: expect.stringMatching(/^ryr_/),
        scope: 'mcp',
      },
    ]);
    const verify = (audience: string) => platform.verify(body.access_token, { audience, workspace_id: workspaceId });
    expect((await verify(audienceOf(resource))).body.claims).toMatchObject({
      kind: 'session',
      person_id: personId,
      organization_id: organizationId,
      workspace_id: workspaceId,
      permissions: expect.arrayContaining(['runs:create', 'runs:read']),
    });
    const other = audienceOf(deployments.add({ organizationId, workspaceId }));
    for (const audience of [other, ...PUBLIC_SERVICES]) expect((await verify(audience)).status).toBe(401);
    expect((await auditOf(organizationId)).map(({ action, details }) => [action, details.client_name])).toEqual([
      ['program.allowed', 'An editor'],
      ['sign_in.allowed', 'An editor'],
    ]);
    const account = await browser.open('/auth/account');
    expect(account.text).toContain('An editor');
    const dump = await platform.dump();
    for (const secret of [code!, body.access_token, body.refresh_token]) expect(dump).not.toContain(secret);
  });

  it('goes on by refresh tokens, for the same deployment, until it or the person ends it', async () => {
    const { client, code, resource, workspaceId, browser } = await allow();
    const { body: first } = await client.redeem(code);
    expect(await errorOf(client.refresh(first.refresh_token, { resource: `${resource}/other` }))).toEqual([
      400,
      'invalid_target',
    ]);
    const { body: second } = await client.refresh(first.refresh_token, { resource });
    expect(second.scope).toBe('mcp');
    const isGood = async (token: string) =>
      (await platform.verify(token, { audience: audienceOf(resource), workspace_id: workspaceId })).status === 200;
    expect(await isGood(second.access_token)).toBe(true);
    expect((await platform.verify(second.access_token)).status).toBe(401);
    await client.post('/oauth/revoke', { token: second.refresh_token });
    expect(await isGood(second.access_token)).toBe(false);
    expect((await platform.verify(browser.sessionToken!)).status, 'the browser stays signed in').toBe(200);
  });

  it('has its session ended when a code comes back, which somebody else may have', async () => {
    const { client, code, resource, workspaceId, organizationId } = await allow();
    const { body } = await client.redeem(code);
    expect(await errorOf(client.redeem(code))).toEqual([400, 'invalid_grant']);
    const audience = audienceOf(resource);
    expect((await platform.verify(body.access_token, { audience, workspace_id: workspaceId })).status).toBe(401);
    expect((await auditOf(organizationId)).at(-1)).toMatchObject({
      action: 'session.ended',
      details: { reason: 'authorization_code_reused' },
    });
  });

  it.each([
    ['another verifier', { code_verifier: 'x'.repeat(43) }],
    ['another address', { redirect_uri: 'http://127.0.0.1:33418/other' }],
    ['another resource', { resource: 'http://localhost:2024/deployments/other/mcp' }],
  ])('gets nothing for a code with %s, and the code is used up', async (_what, changed) => {
    const { client, code } = await allow();
    expect(await errorOf(client.redeem(code, changed as Record<string, string>))).toEqual([400, 'invalid_grant']);
    expect(await errorOf(client.redeem(code))).toEqual([400, 'invalid_grant']);
  });

  it('gets nothing for the code of another client, an old one, or one of a person who has signed out since', async () => {
    const [stolen, old, left] = [await allow(), await allow(), await allow()];
    const thief = await newClient();
    expect(await errorOf(thief.redeem(stolen.code, { code_verifier: stolen.client.verifier }))).toEqual([
      400,
      'invalid_grant',
    ]);
    await platform.query(
      `UPDATE one_time_token SET expires_at = now() WHERE purpose = 'authorization_code' AND person_id = $1::uuid`,
      [old.personId],
    );
    expect(await errorOf(old.client.redeem(old.code))).toEqual([400, 'invalid_grant']);
    await platform.query('UPDATE session SET ended_at = now() WHERE id = $1::uuid', [left.sessionId]);
    expect(await errorOf(left.client.redeem(left.code))).toEqual([400, 'invalid_grant']);
  });

  it('learns that the person refuses', async () => {
    const [{ browser, resource, organizationId }, client] = [await signIn(), await newClient()];
    const question = await browser.open(client.askAt(resource));
    expect(await answerQuestion(browser, question, 'refuse')).toEqual({
      error: 'access_denied',
      state: 'the state',
      iss: ISSUER,
    });
    expect((await auditOf(organizationId)).map(({ action }) => action)).toEqual(['program.refused']);
  });

  it('is let in by nobody but a person who signed in, on our own page', async () => {
    const [{ browser, resource }, client] = [await signIn(), await newClient()];
    const stranger = new PageClient(platform.service.url);
    const asked = client.askAt(resource);
    expect((await stranger.open(asked)).path).toBe(`/login?return_to=${encodeURIComponent(asked)}`);
    const request = asked.split('?')[1]!;
    expect((await browser.submit(AUTHORIZE, { request, answer: 'accept', csrf: 'forged' })).status).toBe(403);
  });
});

describe('a request of an MCP client', () => {
  it.each([
    ['without PKCE', { code_challenge: undefined }, 'invalid_request'],
    ['with the plain method of PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['for a token in the address', { response_type: 'token' }, 'unsupported_response_type'],
    ['for other scopes', { scope: 'openid profile' }, 'invalid_scope'],
    ['for no resource', { resource: undefined }, 'invalid_target'],
    ['for what is no address', { resource: 'support' }, 'invalid_target'],
    ['for the resource of others', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
  ])('%s is shown and not sent on, with a link that tells the client', async (_what, changed, error) => {
    const [{ browser, resource }, client] = [await signIn(), await newClient()];
    const shown = await browser.open(client.askAt(resource, changed as Record<string, string | undefined>));
    expect([shown.status, shown.headers.location]).toEqual([400, undefined]);
    expect(shown.text).toContain(`${REDIRECT_URI}?error=${error}`);
    expect(shown.text).not.toContain('<form');
  });

  it('is refused for a deployment that the person does not reach, or that checks its callers itself', async () => {
    const [{ browser, ...owner }, stranger, client] = [await signIn(), await signIn(), await newClient()];
    for (const resource of [stranger.resource, deployments.add(owner, { has_custom_auth: true })]) {
      const shown = await browser.open(client.askAt(resource));
      expect([shown.status, shown.text.includes('There is no MCP server at this address')]).toEqual([400, true]);
    }
  });

  it('leads nowhere when its address is not one that the client registered', async () => {
    const [{ browser, resource }, client] = [await signIn(), await newClient()];
    for (const redirect_uri of ['https://elsewhere.example/callback', 'http://127.0.0.1:33418/other']) {
      const shown = await browser.open(client.askAt(resource, { redirect_uri }));
      expect([shown.status, shown.text.includes(redirect_uri)]).toEqual([400, false]);
    }
    const changed = `${client.clientId.slice(0, -4)}AAAA`;
    expect((await browser.open(client.askAt(resource, { client_id: changed }))).status).toBe(401);
  });

  it('may name another port of its own machine than it registered', async () => {
    const [{ browser, resource }, client] = [await signIn(), await newClient()];
    const shown = await browser.open(client.askAt(resource, { redirect_uri: 'http://127.0.0.1:5000/callback' }));
    expect(shown.text).toContain('Let An editor use support?');
  });
});

describe('the registration of an MCP client', () => {
  it('answers with what was registered, and no secret', async () => {
    const client = new McpClient(platform.service.url);
    const { body } = await client.register({
      client_name: ' An\n editor ',
      redirect_uris: ['https://editor.example/callback'],
      grant_types: ['authorization_code', 'refresh_token', 'implicit'],
      token_endpoint_auth_method: 'client_secret_post',
      logo_uri: 'https://editor.example/logo.png',
    });
    expect(body).toEqual({
      client_id: expect.stringMatching(/^mcp_/),
      client_id_issued_at: expect.any(Number),
      client_name: 'An editor',
      redirect_uris: ['https://editor.example/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'mcp',
    });
  });

  it.each([
    ['invalid_redirect_uri', { redirect_uris: [] }],
    ['invalid_redirect_uri', { redirect_uris: ['http://editor.example/callback'] }],
    ['invalid_redirect_uri', { redirect_uris: ['javascript:alert(1)'] }],
    ['invalid_redirect_uri', { redirect_uris: ['editor://callback'] }],
    ['invalid_redirect_uri', { redirect_uris: ['https://editor.example/callback#here'] }],
    ['invalid_redirect_uri', { redirect_uris: ['https://editor@elsewhere.example/'] }],
    ['invalid_client_metadata', { grant_types: ['client_credentials'] }],
    ['invalid_client_metadata', { response_types: ['token'] }],
    [
      'invalid_client_metadata',
      { redirect_uris: Array.from({ length: 20 }, (_, n) => `https://editor.example/${'x'.repeat(100)}/${n}`) },
    ],
    ['invalid_request', { redirect_uris: 'https://editor.example/callback' }],
  ])('is refused with %s: %j', async (error, metadata) => {
    expect(await errorOf(new McpClient(platform.service.url).register(metadata))).toEqual([400, error]);
  });

  it('gives nothing of what programs get that act for people in everything', async () => {
    const client = await newClient();
    expect(await errorOf(client.post('/oauth/device/code', {}))).toEqual([400, 'unauthorized_client']);
  });
});
