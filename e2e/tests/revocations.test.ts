import { randomUUID } from 'node:crypto';
import type { IssuedApiKey, IssuedScimToken, Role } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { beforeAll, expect, inject, it } from 'vitest';
import { createAdministratorClient, exchangeForAccessToken } from '../access/callers.ts';
import { insertPerson, insertSession, type Place } from '../access/people.ts';
import { findDatabaseUrl } from '../access/platform-database.ts';

const platform = inject('platform');
const ask = createAdministratorClient(platform);
const ORGANIZATION_VIEWER = '5a7d6f2e-0000-4000-8000-000000000003';
const SERVICE_KEYS = '/api/v1/orgs/current/service-keys';
const PERSONAL_TOKENS = '/api/v1/orgs/current/personal-access-tokens';
const SCIM_TOKENS = '/v1/platform/orgs/current/scim/tokens';
/** A revoked credential may still be used for so long. */

/** A credential that is about to lose its rights. */
interface Credential {
  headers: Record<string, string>;
  revoke(): Promise<unknown>;
  /** The answer to the next request; default: 401. */
  refusal?: number;
}

let place: Place;
beforeAll(async () => {
  const { id: organizationId } = await ask<{ id: string }>('GET', '/api/v1/orgs/current/info');
  const [workspace] = await ask<{ id: string }[]>('GET', '/api/v1/workspaces');
  place = { organizationId, workspaceId: workspace!.id };
});

const inDatabase = async <Result>(work: Parameters<typeof withDatabaseClient<Result>>[1]) =>
  withDatabaseClient<Result>(await findDatabaseUrl(platform.dataDir, 'org_access'), work);

/** Sends a request with the credential alone. */
const send = async (headers: Credential['headers'], method: string, path: string, body?: unknown) => {
  const target = path.startsWith('http') ? path : platform.url + path;
  return fetch(target, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
};

/** Signs an administrator in. @returns the headers of a program, and those of a page of the platform */
async function signIn() {
  const { identityId, ofPage } = await inDatabase(async (client) => {
    const { personId, identityId } = await insertPerson(client, place, { roles: ['ORGANIZATION_ADMIN'] });
    return { identityId, ofPage: await insertSession(client, place, { personId, url: platform.url }) };
  });
  return { identityId, ofPage, headers: await exchangeForAccessToken(platform, ofPage) };
}

const issue = (body: object) => ask<IssuedApiKey>('POST', SERVICE_KEYS, { description: 'to be revoked', ...body });

/** Issues a key with a new role that has these permissions. @returns the id of the role too */
async function issueWithRole(...permissions: string[]) {
  const custom = { display_name: `Revoked ${randomUUID()}`, description: '', permissions };
  const { id } = await ask<Role>('POST', '/api/v1/orgs/current/roles', custom);
  return { id, custom, key: (await issue({ role_id: id, workspaces: [place.workspaceId] })).key };
}

/** Makes a tag, to give to the deployment and to decide about by access policies. */
async function makeTag() {
  const current = '/api/v1/workspaces/current';
  const attribute_key = `Revoked ${randomUUID()}`;
  const { id } = await ask<{ id: string }>('POST', `${current}/tag-keys`, { key: attribute_key });
  const values = `${current}/tag-keys/${id}/tag-values`;
  const { id: tag_value_id } = await ask<{ id: string }>('POST', values, { value: 'yes' });
  const condition = { attribute_name: 'resource_tag_key', attribute_key, operator: 'equals', attribute_value: 'yes' };
  const resource = { resource_type: 'deployment', resource_id: platform.deploymentId };
  return {
    give: () => ask('POST', `${current}/taggings`, { tag_value_id, ...resource }),
    decide: (effect: 'allow' | 'deny', permission: string, roleId: string) =>
      ask('POST', '/v1/platform/orgs/current/access-policies', {
        name: attribute_key,
        effect,
        condition_groups: [{ resource_type: 'deployment', permission, conditions: [condition] }],
        role_ids: [roleId],
      }),
  };
}

/** Makes a person as an identity provider does, an administrator by a group, and signs them in. */
async function signInByScim() {
  // The last administrator could not be deactivated.
  await signIn();
  const { id, token } = await ask<IssuedScimToken>('POST', SCIM_TOKENS, { description: 'revocations' });
  const scim = async (method: string, path: string, body: object) =>
    (await send({ authorization: `Bearer ${token}` }, method, `/scim/v2${path}`, body)).json() as Promise<{
      id: string;
    }>;
  const name = randomUUID();
  const email = `${name}@example.com`;
  const user = await scim('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: name,
    externalId: name,
    emails: [{ type: 'work', value: email }],
  });
  await scim('POST', '/Groups', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName: `${name} Organization Admins`,
    members: [{ value: user.id }],
  });
  const ofPage = await inDatabase(async (client) => {
    // A session of an account acts for whoever proved the address: SCIM gives nothing to accounts of others.
    const proof = 'UPDATE person SET email_verified_at = now() WHERE email = $1 RETURNING id';
    const { rows } = await client.query(proof, [email]);
    return insertSession(client, place, { personId: rows[0].id, url: platform.url });
  });
  const deactivate = async () => {
    await scim('PATCH', `/Users/${user.id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'Replace', path: 'active', value: 'False' }],
    });
    await ask('DELETE', `${SCIM_TOKENS}/${id}`);
  };
  return { headers: await exchangeForAccessToken(platform, ofPage), deactivate };
}

const CASES: Record<string, () => Promise<Credential>> = {
  async 'SCIM deactivated its person'() {
    const { headers, deactivate } = await signInByScim();
    return { headers, revoke: deactivate };
  },
  async 'its member was removed'() {
    const { identityId, headers } = await signIn();
    return { headers, revoke: () => ask('DELETE', `/api/v1/orgs/current/members/${identityId}`) };
  },
  async 'its person may reach no workspace any more'() {
    const { identityId, headers } = await signIn();
    const change = { role_id: ORGANIZATION_VIEWER };
    return { headers, revoke: () => ask('PATCH', `/api/v1/orgs/current/members/${identityId}`, change), refusal: 404 };
  },
  async 'its person signed out everywhere'() {
    const { headers, ofPage } = await signIn();
    return { headers, revoke: () => send(ofPage, 'DELETE', '/api/v1/sessions?include_current=true') };
  },
  async 'the personal token was revoked'() {
    const { ofPage } = await signIn();
    const made = await send(ofPage, 'POST', PERSONAL_TOKENS, { description: 'to be revoked' });
    const { id, key } = (await made.json()) as IssuedApiKey;
    return { headers: { 'x-api-key': key }, revoke: () => send(ofPage, 'DELETE', `${PERSONAL_TOKENS}/${id}`) };
  },
  async 'the owner of the personal token was removed'() {
    const { identityId, ofPage } = await signIn();
    const made = await send(ofPage, 'POST', PERSONAL_TOKENS, { description: 'to be revoked' });
    const { key } = (await made.json()) as IssuedApiKey;
    const revoke = () => ask('DELETE', `/api/v1/orgs/current/members/${identityId}`);
    return { headers: { 'x-api-key': key }, revoke };
  },
  async 'the service key was revoked'() {
    const { id, key } = await issue({});
    return { headers: { 'x-api-key': key }, revoke: () => ask('DELETE', `${SERVICE_KEYS}/${id}`) };
  },
  async 'the role of the service key may not read any more'() {
    const { id, key, custom } = await issueWithRole('runs:create', 'runs:read');
    const less = { ...custom, permissions: ['workspaces:read'] };
    const revoke = () => ask('PATCH', `/api/v1/orgs/current/roles/${id}`, less);
    return { headers: { 'x-api-key': key }, revoke, refusal: 403 };
  },
  async 'an access policy denies the role of the service key to read'() {
    const { id, key } = await issueWithRole('runs:create', 'runs:read');
    const tag = await makeTag();
    await tag.give();
    return { headers: { 'x-api-key': key }, revoke: () => tag.decide('deny', 'runs:read', id), refusal: 403 };
  },
  async 'the deployment got a tag with which an access policy denies to read'() {
    const { id, key } = await issueWithRole('runs:create', 'runs:read');
    const tag = await makeTag();
    await tag.decide('deny', 'runs:read', id);
    return { headers: { 'x-api-key': key }, revoke: tag.give, refusal: 403 };
  },
};

it.each(Object.keys(CASES))('an open stream is cut, and the next request refused, after %s', async (what) => {
  const { headers, revoke, refusal = 401 } = await CASES[what]!();
  const created = await send(headers, 'POST', `${platform.deploymentUrl}/threads`, {});
  expect(created.status).toBe(200);
  const { thread_id: threadId } = (await created.json()) as { thread_id: string };
  const path = `${platform.deploymentUrl}/threads/${threadId}/stream`;
  const stream = await send(headers, 'GET', path);
  expect(stream.status).toBe(200);
  const end = stream.text().then(
    () => 'whole',
    () => 'cut',
  );
  await revoke();
  expect(await end).toBe('cut');
  expect((await send(headers, 'GET', path)).status).toBe(refusal);
});

it('an access policy that allows is in force soon', async () => {
  const { id, key } = await issueWithRole('runs:read');
  const tag = await makeTag();
  await tag.give();
  const create = async () => (await send({ 'x-api-key': key }, 'POST', `${platform.deploymentUrl}/threads`, {})).status;
  expect(await create()).toBe(403);
  await tag.decide('allow', 'runs:create', id);
  await waitFor(async () => (await create()) === 200, { what: 'the allowed request' });
});
