import { createHash, randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import { withDatabaseClient } from '@runyard/test-kit';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createAdministratorClient } from '../access/callers.ts';
import { insertOrganization, type Place } from '../access/people.ts';
import { findDatabaseUrl } from '../access/platform-database.ts';
import { callControlPlane, createDeployment, type Deployment, waitUntilDeployed } from '../harness/control-plane.ts';

const platform = inject('platform');
const ask = createAdministratorClient(platform);
const COOKIE = 'runyard_session';
const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

interface SignedIn {
  identityId: string;
  sessionId: string;
  token: string;
}

const query = async (sql: string, values: unknown[]) =>
  withDatabaseClient(await findDatabaseUrl(platform.dataDir, 'org_access'), (client) => client.query(sql, values));

/** Writes an administrator of an organization and a session into the database, as a sign-in does. */
async function signIn(organizationId: string): Promise<SignedIn> {
  const [personId, identityId, sessionId] = [randomUUID(), randomUUID(), randomUUID()];
  const token = `rys_${randomBytes(32).toString('base64url')}`;
  await query('INSERT INTO person (id, email, full_name) VALUES ($1, $2, $3)', [
    personId,
    `${personId}@example.com`,
    'Ada',
  ]);
  await query(
    `INSERT INTO identity (id, organization_id, kind, person_id, name, organization_role_id, is_accepted)
     SELECT $1, $2, 'person', $3, 'Ada', id, true FROM role WHERE name = 'ORGANIZATION_ADMIN' AND organization_id IS NULL`,
    [identityId, organizationId, personId],
  );
  await query(
    `INSERT INTO role_grant (id, organization_id, identity_id, role_id, source)
     SELECT $1, $2, $3, id, 'manual' FROM role WHERE name = 'ORGANIZATION_ADMIN' AND organization_id IS NULL`,
    [randomUUID(), organizationId, identityId],
  );
  const digest = createHash('sha256').update(token).digest();
  await query(
    `INSERT INTO session (id, person_id, token_sha256, expires_at) VALUES ($1, $2, $3, now() + interval '1 hour')`,
    [sessionId, personId, digest],
  );
  return { identityId, sessionId, token };
}

const cookieOf = ({ token }: SignedIn) => ({ cookie: `theirs=1; ${COOKIE}=${token}`, ...SAME_ORIGIN });

let organizationId: string;
let ada: SignedIn;
beforeAll(async () => {
  organizationId = (await ask<{ id: string }>('GET', '/api/v1/orgs/current/info')).id;
  ada = await signIn(organizationId);
});

describe('a session of a member', () => {
  it('calls services by its cookie, and these and deployments by an access token', async () => {
    const who = await fetch(`${platform.url}/auth/public`, { headers: cookieOf(ada) });
    expect(await who.json()).toMatchObject({ identity_id: ada.identityId, organization_id: organizationId });
    const made = await fetch(`${platform.url}/api/v1/sessions/current/access-token`, {
      method: 'POST',
      headers: cookieOf(ada),
    });
    const { access_token: accessToken } = (await made.json()) as { access_token: string };
    // An administrator reaches every workspace, also those that other tests make.
    const [workspace] = await ask<{ id: string }[]>('GET', '/api/v1/workspaces');
    const inWorkspace = { 'x-tenant-id': workspace!.id };
    for (const headers of [cookieOf(ada), { authorization: `Bearer ${accessToken}` }]) {
      const listed = await fetch(`${platform.url}/v2/deployments`, { headers: { ...headers, ...inWorkspace } });
      expect(listed.status).toBe(200);
    }
    const create = async (headers: Record<string, string>) => {
      const json = { ...headers, 'content-type': 'application/json' };
      return (await fetch(`${platform.deploymentUrl}/threads`, { method: 'POST', headers: json, body: '{}' })).status;
    };
    expect(await create({ authorization: `Bearer ${accessToken}` })).toBe(200);
    expect(await create(cookieOf(ada))).toBe(401);
  });
});

describe('a deployment with code of its own', () => {
  let own: Place & { key: string };
  let deployment: Deployment;
  beforeAll(async () => {
    own = await withDatabaseClient(await findDatabaseUrl(platform.dataDir, 'org_access'), insertOrganization);
    const project = path.resolve(import.meta.dirname, '../projects/web');
    deployment = await createDeployment('web-sessions', project, [], own.key);
    await waitUntilDeployed(deployment, deployment.latest_revision_id, own.key);
  });
  afterAll(async () => {
    if (deployment) await callControlPlane('DELETE', `/deployments/${deployment.id}`, undefined, own.key);
  });

  it('never sees the cookie of the session', async () => {
    const grace = await signIn(own.organizationId);
    const headers = { ...cookieOf(grace), 'x-api-key': own.key };
    const answer = await fetch(`${deployment.source_config.custom_url}/custom/headers`, { headers });
    const seen = (await answer.json()) as Record<string, string>;
    expect(seen.cookie).toBe('theirs=1');
    expect(JSON.stringify(seen)).not.toContain(grace.token);
  });

  it('has its stream cut when its organization leaves the address out', async () => {
    const there = new Agent({ localAddress: '127.0.0.2' });
    // A name may lead to an address of another family, which no client at 127.0.0.2 reaches.
    const [root, below] = [platform.url, deployment.source_config.custom_url].map((url) => {
      const address = new URL(url);
      address.hostname = '127.0.0.1';
      return address.href.replace(/\/$/, '');
    });
    const headers = { 'x-api-key': own.key, 'content-type': 'application/json' };
    const made = await fetch(`${below}/threads`, { method: 'POST', headers, body: '{}' });
    const { thread_id } = (await made.json()) as { thread_id: string };
    const open = () => request(`${below}/threads/${thread_id}/stream`, { headers, dispatcher: there });
    const stream = await open();
    expect(stream.statusCode).toBe(200);
    const end = stream.body.text().then(
      () => 'whole',
      () => 'cut',
    );
    const changed = await fetch(`${root}/api/v1/orgs/current/info`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify({ ip_allowlist: ['127.0.0.1', '::1'] }),
    });
    expect([changed.status, await changed.json()]).toMatchObject([200, { ip_allowlist_enabled: true }]);
    expect(await end).toBe('cut');
    const refused = await open();
    expect([refused.statusCode, await refused.body.json()]).toEqual([
      403,
      { detail: 'The organization may not be used from this address' },
    ]);
    expect((await fetch(`${below}/info`, { headers })).status).toBe(200);
    await there.close();
  });
});

describe('an organization that limits its networks', () => {
  it('is used from these alone', async () => {
    const limited = randomUUID();
    await query(
      `INSERT INTO organization (id, display_name, ip_allowlist, ip_allowlist_enabled)
       VALUES ($1, 'Limited', '{203.0.113.0/24}', true)`,
      [limited],
    );
    const member = await signIn(limited);
    const info = await fetch(`${platform.url}/api/v1/orgs/current/info`, { headers: cookieOf(member) });
    expect([info.status, await info.json()]).toEqual([
      403,
      { detail: 'The organization may not be used from this address' },
    ]);
    await query(`UPDATE organization SET ip_allowlist = '{127.0.0.0/8,::1}' WHERE id = $1`, [limited]);
    const allowed = await signIn(limited);
    const seen = await fetch(`${platform.url}/api/v1/orgs/current/info`, { headers: cookieOf(allowed) });
    expect(seen.status).toBe(200);
  });
});
