import { randomUUID } from 'node:crypto';
import type { Deployment, IssuedApiKey, NewMember, Revision, TagKey, Workspace } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { beforeAll, expect, inject, it } from 'vitest';
import { insertOrganization } from '../access/people.ts';
import { findDatabaseUrl } from '../access/platform-database.ts';

/**
 * Sends requests of the public Terraform provider through the gateway, with the headers and prefixes of its releases:
 * it never sends `X-Organization-Id`. Services replay by themselves what it creates and reads back.
 */
const platform = inject('platform');
const ORGANIZATION_ADMIN = '5a7d6f2e-0000-4000-8000-000000000001';
const WORKSPACE_VIEWER = '5a7d6f2e-0000-4000-8000-000000000014';
const WORKSPACES = '/api/v1/workspaces';
const MEMBERS = '/api/v1/orgs/current/members';

/** A workspace of an organization of its own. */
let home: string;
/** A key of the whole organization, which acts in no workspace unless a request names one. */
let key: string;
beforeAll(async () => {
  const own = await withDatabaseClient(await findDatabaseUrl(platform.dataDir, 'org_access'), (client) =>
    insertOrganization(client),
  );
  home = own.workspaceId;
  key = own.key;
  const body = { description: 'Terraform', org_role_id: ORGANIZATION_ADMIN };
  key = (await read<IssuedApiKey>('POST', '/api/v1/orgs/current/service-keys', { body })).key;
});

interface Options {
  /** The workspace of the resource, or else that of the provider. */
  tenant?: string;
  body?: unknown;
  as?: string;
}

async function send(method: string, path: string, { tenant, body, as = key }: Options = {}) {
  const answer = await fetch(platform.url + path, {
    method,
    headers: {
      'X-Api-Key': as,
      'content-type': 'application/json',
      ...(tenant !== undefined && { 'X-Tenant-Id': tenant }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() };
}

/** Sends a request whose answer the provider reads: it has to be JSON. */
async function read<Answer>(method: string, path: string, options?: Options): Promise<Answer> {
  const { status, type, text } = await send(method, path, options);
  expect({ request: `${method} ${path}`, ok: status < 300, type, text }).toMatchObject({
    ok: true,
    type: expect.stringContaining('application/json'),
  });
  return JSON.parse(text) as Answer;
}

it('Terraform deletes a workspace, may delete it again, and drops what was in it', async () => {
  const id = randomUUID();
  const path = `${WORKSPACES}/${id}`;
  await read('POST', WORKSPACES, { body: { display_name: 'Team A', id } });
  const tagKey = await read<TagKey>('POST', `${WORKSPACES}/current/tag-keys`, { tenant: id, body: { key: 'Team' } });
  await read('PATCH', path, { tenant: id, body: { display_name: 'Team B' } });
  expect(await read<Workspace>('DELETE', path, { tenant: id })).toMatchObject({ id, is_deleted: true });

  // A gateway may know the key in the workspace for up to five seconds more.
  const isForgotten = async () => (await send('GET', `${WORKSPACES}/current/secrets`, { tenant: id })).status === 404;
  await waitFor(isForgotten, { what: 'the workspace to be gone for the key' });
  const isGone: [method: string, path: string, body?: object][] = [
    ['DELETE', path],
    ['PATCH', path, { display_name: 'Team C' }],
    ['GET', `${WORKSPACES}/current/tag-keys/${tagKey.id}`],
    ['DELETE', `${WORKSPACES}/current/tag-keys/${tagKey.id}`],
    ['GET', `/v2/deployments/${randomUUID()}`],
    ['DELETE', `/api-host/v2/deployments/${randomUUID()}`],
  ];
  for (const [method, gone, body] of isGone) {
    const { status } = await send(method, gone, { tenant: id, body });
    expect(`${method} ${gone}: ${status}`).toBe(`${method} ${gone}: 404`);
  }
  const listed = await read<Workspace[]>('GET', `${WORKSPACES}?include_deleted=true`, { tenant: id });
  expect(listed.find((workspace) => workspace.id === id)).toMatchObject({ is_deleted: true });
  await read('GET', '/api/v1/orgs/current/roles', { tenant: id });

  const nobodys = randomUUID();
  const [ofDeleted, ofNobody] = await Promise.all(
    [id, nobodys].map((tenant) => send('DELETE', path, { tenant, as: platform.apiKey })),
  );
  expect(ofDeleted).toMatchObject({ status: 403 });
  expect(ofDeleted!.text.replace(id, '')).toBe(ofNobody!.text.replace(nobodys, ''));
});

it.each(['/v2', '/api-host/v2'])(
  'Terraform keeps a deployment below %s, in the workspace that it names alone',
  async (prefix) => {
    const deployments = `${prefix}/deployments`;
    const other = prefix === '/v2' ? '/api-host/v2' : '/v2';
    const made = await read<Deployment>('POST', deployments, {
      tenant: home,
      body: {
        name: `terraform${prefix.replaceAll('/', '-')}`,
        source: 'github',
        source_config: { repo_url: '/nowhere/agent', deployment_type: 'prod', build_on_push: false },
        source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
        secrets: [{ name: 'TOKEN', value: 'as it is' }],
      },
    });
    const path = `/deployments/${made.id}`;
    await read('PATCH', prefix + path, { tenant: home, body: { display_name: 'Agent' } });
    const revision = `${path}/revisions/${made.latest_revision_id}`;
    await waitFor(
      async () => (await read<Revision>('GET', prefix + revision, { tenant: home })).status === 'BUILD_FAILED',
      { what: 'the end of the build' },
    );
    // An import by `<workspace_id>/<id>` reads it for the first time.
    const imported = await read<Deployment>('GET', prefix + path, { tenant: home });
    expect(imported).toMatchObject({ display_name: 'Agent', tenant_id: home, secrets: [{ name: 'TOKEN' }] });
    expect(await read('GET', other + path, { tenant: home })).toEqual(imported);
    expect((await send('GET', prefix + path)).text).toContain('requires workspace specification');
    const elsewhere = await read<Workspace>('POST', WORKSPACES, { body: { display_name: 'Elsewhere' } });
    expect((await send('GET', prefix + path, { tenant: elsewhere.id })).status).toBe(404);
    expect((await send('DELETE', prefix + path, { tenant: home })).status).toBeLessThan(300);
    await waitFor(async () => (await send('GET', prefix + path, { tenant: home })).status === 404, {
      what: 'the end of the deployment',
    });
  },
);

it('Terraform imports by ids and addresses with the workspace before them', async () => {
  const current = `${WORKSPACES}/current`;
  const inHome = { tenant: home };
  // `<workspace_id>/<key_id>/<value_id>` and `<workspace_id>/<tagging_id>/<value_id>/<type>/<resource_id>`.
  const tagKey = await read<TagKey>('POST', `${current}/tag-keys`, {
    ...inHome,
    body: { key: 'Team', description: '' },
  });
  const at = `${current}/tag-keys/${tagKey.id}`;
  const value = await read<{ id: string }>('POST', `${at}/tag-values`, { ...inHome, body: { value: 'red' } });
  const resource = { resource_type: 'deployment', resource_id: randomUUID() };
  const tagging = await read('POST', `${current}/taggings`, {
    ...inHome,
    body: { tag_value_id: value.id, ...resource, id: '', created_at: '' },
  });
  expect(await read('GET', at, inHome)).toEqual(tagKey);
  expect(await read('GET', `${at}/tag-values/${value.id}`, inHome)).toEqual(value);
  expect(await read('GET', `${current}/tags/resource?${new URLSearchParams(resource)}`, inHome)).toMatchObject([
    { values: [{ id: value.id, taggings: [tagging] }] },
  ]);
  // `<workspace_id>/<key>`
  expect((await send('POST', `${current}/secrets`, { ...inHome, body: [{ key: 'TOKEN', value: 'x' }] })).status).toBe(
    200,
  );
  expect(await read('GET', `${current}/secrets`, inHome)).toEqual([{ key: 'TOKEN' }]);
  // `org/current/email/<email>`, `<workspace_id>/<email>` and `workspace/<workspace_id>/email/<email>`.
  const email = `${randomUUID()}@example.com`;
  const { id } = await read<NewMember>('POST', MEMBERS, { body: { email, direct: true } });
  const query = new URLSearchParams({ emails: email, limit: '100', sort_by: 'created_at', sort_by_desc: 'true' });
  expect(await read('GET', `${MEMBERS}/active?${query}`, inHome)).toMatchObject([{ id, email }]);
  const body = { org_identity_id: id, role_id: WORKSPACE_VIEWER };
  const member = await read<{ id: string }>('POST', `${current}/members`, { ...inHome, body });
  const rows = await read('GET', `${current}/members/active?${query}`, inHome);
  expect(rows).toMatchObject([{ id: member.id, email, role_id: WORKSPACE_VIEWER }]);
});
