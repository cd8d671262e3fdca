import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AGENT_SERVER_LEVEL,
  type Deployment,
  type DeploymentList,
  type PrincipalClaims,
  type RevisionList,
} from '@runyard/contracts';
import { ALL_PERMISSIONS, OTHER_WORKSPACE, WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';

/** The id of no revision. */
const REVISION = '0192f7a0-0000-7000-8000-0000000000ee';
const MISSING = '0192f7a0-0000-7000-8000-0000000000ff';

let platform: TestPlatform;
let existing: Deployment;
beforeAll(async () => {
  platform = await TestPlatform.start();
  existing = await platform.createHealthy({ name: 'existing', secrets: [{ name: 'TOKEN', value: 'secret' }] });
});
afterAll(() => platform.close());

describe('creating a deployment', () => {
  it('answers 201 with a first revision that becomes DEPLOYED', async () => {
    const { status, body } = await platform.create({ name: 'First one' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'First one',
      tenant_id: WORKSPACE,
      source: 'local_directory',
      source_config: {
        project_path: platform.projectDir,
        deployment_type: 'dev',
        custom_url: `https://agents.example.com/deployments/${body.id}`,
      },
      source_revision_config: { langgraph_config_path: 'langgraph.json' },
      latest_revision_id: expect.any(String),
      active_revision_id: null,
      image_version: null,
      agent: null,
      secrets: [],
      secret_references: [],
    });
    const revision = await platform.untilStatus(body.id, body.latest_revision_id!, 'DEPLOYED');
    expect(revision.status_message).toBeNull();
    expect((await platform.get(body.id)).body).toMatchObject({
      status: 'READY',
      active_revision_id: revision.id,
      image_version: AGENT_SERVER_LEVEL,
    });
  });

  it.each(['dev', 'prod', 'dev_free', 'dev_zero', 'dev_free_zero', 'serverless', 'dedicated'])(
    'stores the type %s as it was sent',
    async (type) => {
      const { body } = await platform.create({
        source: 'internal_source',
        source_config: { deployment_type: type },
      });
      expect(body.source_config.deployment_type).toBe(type);
    },
  );

  it('replaces characters that Postgres cannot store', async () => {
    const end = crypto.randomUUID();
    const { status, body } = await platform.create({
      name: `a\u0000b\ud800-${end}`,
      source: 'internal_source',
      source_config: { build_command: 'echo \u0000' },
    });
    expect([status, body.name]).toEqual([201, `a\ufffdb\ufffd-${end}`]);
    const patched = await platform.call<Deployment>('PATCH', `/v2/deployments/${body.id}`, {
      body: { source_config: { build_command: 'echo again \u0000' } },
    });
    expect([patched.status, patched.body.source_config.build_command]).toEqual([200, 'echo again \ufffd']);
    const made = await platform.call('POST', `/v2/deployments/${body.id}/revisions`, {
      body: { tracked_packages: ['a\u0000'] },
    });
    expect(made).toMatchObject({ status: 201, body: { tracked_packages: ['a\ufffd'] } });
  });

  it('neither stores nor shows a field that the contract does not know, and no change of it does', async () => {
    const forged = { tenant_id: randomUUID() };
    const secrets = [{ name: 'TOKEN', value: 'of-the-deployment', ...forged }];
    const fields = { source_config: { ...forged, resource_spec: { cpu: 1, ...forged } }, secrets };
    const body = {
      ...fields,
      source_config: { ...fields.source_config, project_path: platform.projectDir },
      source_revision_config: { langgraph_config_path: 'langgraph.json', ...forged },
    };
    const { status, body: deployment } = await platform.create({ name: 'with unknown fields', ...body });
    const path = `/v2/deployments/${deployment.id}`;
    const changed = await platform.call<Deployment>('PATCH', path, { body: fields });
    expect({ created: status, changed: changed.status }).toEqual({ created: 201, changed: 200 });
    for (const shown of [deployment, changed.body]) {
      expect(shown.source_config.resource_spec).toEqual({ cpu: 1 });
      expect(JSON.stringify(shown)).not.toContain(forged.tenant_id);
    }
    expect(await platform.dump()).not.toContain(forged.tenant_id);
  });

  it('refuses a name that is taken in the workspace, and accepts it in another', async () => {
    const body = {
      name: 'existing',
      source: 'local_directory',
      source_config: { project_path: platform.projectDir },
      source_revision_config: {},
    };
    const again = await platform.call<{ detail: string }>('POST', '/v2/deployments', { body });
    expect(again).toMatchObject({ status: 400, body: { detail: expect.stringContaining('already exists') } });
    const elsewhere = await platform.call<Deployment>('POST', '/v2/deployments', {
      body,
      as: { workspace_id: OTHER_WORKSPACE },
    });
    expect(elsewhere.status).toBe(201);
    const routes = (await platform.routes()).filter((route) =>
      [existing.id, elsewhere.body.id].includes(route.deployment_id),
    );
    expect(new Set(routes.map((route) => route.slug)).size).toBe(2);
    await platform.call('DELETE', `/v2/deployments/${elsewhere.body.id}`, { as: { workspace_id: OTHER_WORKSPACE } });
  });

  it.each([
    ['no name', { name: undefined }, ['body', 'name'], 'missing'],
    ['an empty name', { name: '' }, ['body', 'name'], 'minLength_error'],
    ['a number for a name', { name: 5 }, ['body', 'name'], 'type_error'],
    ['an unknown source', { source: 'floppy_disk' }, ['body', 'source'], 'anyOf_error'],
    ['no source_config', { source_config: undefined }, ['body', 'source_config'], 'missing'],
    [
      'cores out of their range',
      { source_config: { resource_spec: { cpu: 9 } } },
      ['body', 'source_config', 'resource_spec', 'cpu'],
      'anyOf_error',
    ],
    [
      'a secret without a text',
      {
        secrets: [
          { name: 'OK', value: 'x' },
          { name: 5, value: 'y' },
        ],
      },
      ['body', 'secrets', 1, 'name'],
      'type_error',
    ],
    ['secrets that are no list', { secrets: { A: '1' } }, ['body', 'secrets'], 'anyOf_error'],
  ])('answers 422 with the location of the fault for %s', async (_, changes, loc, type) => {
    const { status, body } = await platform.create(changes);
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { detail: expect.arrayContaining([{ loc, msg: expect.any(String), type }]) },
    });
  });

  it.each([
    ['a relative path', async () => ({ project_path: 'somewhere' }), /absolute path/],
    ['no path', async () => ({}), /project_path' is required/],
    ['a folder that does not exist', async () => ({ project_path: '/nowhere/at/all' }), /no folder/],
    ['no langgraph.json', async () => ({ project_path: platform.folder }), /langgraph\.json/],
    [
      'a broken langgraph.json',
      async () => {
        const project_path = await platform.makeProject('broken');
        await writeFile(join(project_path, 'langgraph.json'), '{ nonsense');
        return { project_path };
      },
      /not valid JSON/,
    ],
  ])('answers 400 with the reason for %s', async (_, sourceConfig, reason) => {
    const { status, body } = await platform.create({ source_config: await sourceConfig() });
    expect({ status, detail: (body as unknown as { detail: string }).detail }).toEqual({
      status: 400,
      detail: expect.stringMatching(reason),
    });
  });

  it('does not read a configuration outside of the project', async () => {
    const { status } = await platform.create({ source_revision_config: { langgraph_config_path: '../other.json' } });
    expect(status).toBe(400);
  });

  it("refuses secrets with names of the platform's variables", async () => {
    const { status, body } = await platform.create({ secrets: [{ name: 'DATABASE_URI', value: 'x' }] });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('DATABASE_URI');
  });
});

describe('a deployment of an agent', () => {
  const agent = { agent_id: 'support', environment: 'production' };
  const empty = { name: undefined, source: 'internal_source', source_config: {} };

  it('has its name by default, is found by it, and is the only one in its environment', async () => {
    const { status, body: created } = await platform.create({ ...empty, agent });
    expect({ status, body: created }).toMatchObject({ status: 201, body: { name: 'support-production', agent } });
    expect(await platform.create({ name: 'another', agent })).toEqual({
      status: 409,
      body: { detail: 'Agent "support" already has a deployment in "production".' },
    });
    const found = async (query: string) =>
      (await platform.call<DeploymentList>('GET', `/v2/deployments?${query}`)).body.resources.map((each) => each.id);
    expect(await found('agent_id=support&agent_environment=production')).toEqual([created.id]);
    expect(await found('agent_id=support&agent_environment=staging')).toEqual([]);
    expect((await platform.create({ ...empty, agent: { ...agent, environment: 'staging' } })).status).toBe(201);
  });
});

describe('several deployments', () => {
  const remove = (ids: string[], as = {}) =>
    platform.call('DELETE', `/v2/deployments?${ids.map((id) => `deployment_ids=${id}`).join('&')}`, { as });
  const empty = async () => {
    const made = await platform.create({ source: 'internal_docker', source_config: {} });
    return made.body.id;
  };

  it('are deleted at once, as far as they exist', async () => {
    const [one, two] = [await empty(), await empty()];
    expect(await remove([one, MISSING])).toEqual({
      status: 207,
      body: { deleted: [one], failed: [{ id: MISSING, detail: `Deployment ID ${MISSING} not found.` }] },
    });
    expect(await remove([two])).toEqual({ status: 200, body: { deleted: [two], failed: [] } });
    expect((await platform.get(two)).status).toBe(404);
  });

  it('are not deleted when none exists, none is named, or the caller lacks the permission', async () => {
    expect(await remove([MISSING])).toEqual({ status: 404, body: { detail: `Deployment ID ${MISSING} not found.` } });
    expect(await remove([existing.id], { workspace_id: OTHER_WORKSPACE })).toMatchObject({ status: 404 });
    expect(await remove(['x'])).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'deployment_ids', 0], type: 'uuid_parsing' }] },
    });
    expect(await platform.call('DELETE', '/v2/deployments')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'deployment_ids'], type: 'missing' }] },
    });
    const permissions = ALL_PERMISSIONS.filter((name) => name !== 'deployments:delete');
    expect(await remove([existing.id], { permissions })).toMatchObject({ status: 403 });
  });
});

describe('a caller', () => {
  /**
   * Each operation would fail for another reason if its permission were not checked first, so none changes anything.
   */
  const operations = [
    { permission: 'deployments:read', method: 'GET', path: () => '/v2/deployments' },
    {
      permission: 'deployments:create',
      method: 'POST',
      path: () => '/v2/deployments',
      body: { name: 'x', source: 'local_directory', source_config: {}, source_revision_config: {} },
    },
  ];
  const onOne = [
    { permission: 'deployments:read', method: 'GET', path: (id: string) => `/v2/deployments/${id}` },
    { permission: 'deployments:update', method: 'PATCH', path: (id: string) => `/v2/deployments/${id}`, body: {} },
    { permission: 'deployments:delete', method: 'DELETE', path: (id: string) => `/v2/deployments/${id}` },
    { permission: 'deployments:read', method: 'GET', path: (id: string) => `/v2/deployments/${id}/revisions` },
    { permission: 'deployments:update', method: 'POST', path: (id: string) => `/v2/deployments/${id}/revisions` },
    {
      permission: 'deployments:read',
      method: 'GET',
      path: (id: string) => `/v2/deployments/${id}/revisions/${REVISION}`,
    },
    {
      permission: 'deployments:update',
      method: 'POST',
      path: (id: string) => `/v2/deployments/${id}/revisions/${REVISION}/redeploy`,
    },
    {
      permission: 'deployments:update',
      method: 'POST',
      path: (id: string) => `/v2/deployments/${id}/revisions/${REVISION}/interrupt`,
    },
  ];
  const named = [...operations, ...onOne].map(
    (operation) => [operation.permission, operation.method, operation.path('…'), operation] as const,
  );

  it.each(named)(
    'without %s gets 403 for %s %s',
    async (permission, method, _, { path, body }: (typeof named)[0][3]) => {
      const others = ALL_PERMISSIONS.filter((name) => name !== permission);
      const answer = await platform.call(method, path(existing.id), { body, as: { permissions: others } });
      expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining(permission) } });
    },
  );

  it.each(named)('with only %s may call %s %s', async (permission, method, _, { path, body }: (typeof named)[0][3]) => {
    const answer = await platform.call(method, path(MISSING), { body, as: { permissions: [permission] } });
    expect([200, 400, 404]).toContain(answer.status);
  });

  it.each(named)(
    'of the whole organization with %s needs a workspace for %s %s',
    async (_permission, method, _, { path, body }: (typeof named)[0][3]) => {
      const answer = await platform.call(method, path(existing.id), { body, as: { workspace_id: undefined } });
      expect(answer).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('requires workspace specification') },
      });
    },
  );

  it.each(onOne)(
    'gets the same 404 for $method of a deployment of another workspace and one that does not exist',
    async ({ method, path, body }) => {
      const foreign = await platform.call(method, path(existing.id), { body, as: { workspace_id: OTHER_WORKSPACE } });
      expect(foreign).toEqual({ status: 404, body: { detail: `Deployment ID ${existing.id} not found.` } });
      const missing = await platform.call(method, path(MISSING), { body });
      expect(missing).toEqual({ status: 404, body: { detail: `Deployment ID ${MISSING} not found.` } });
    },
  );

  it.each([
    ['developer', 403],
    ['plus', 400],
    ['enterprise', 400],
  ] as const)(
    'of an organization with the plan %s is answered %i when it creates a deployment',
    async (plan, status) => {
      const body = { name: 'x', source: 'local_directory', source_config: {}, source_revision_config: {} };
      const answer = await platform.call<{ detail: string }>('POST', '/v2/deployments', { body, as: { plan } });
      expect(answer.status).toBe(status);
      if (status === 403) expect(answer.body.detail).toContain('not enabled');
    },
  );

  it('without a token, or with one for another service, gets 401', async () => {
    expect(await platform.call('GET', '/v2/deployments', { headers: {} })).toMatchObject({ status: 401 });
    expect(await platform.call('GET', '/v2/deployments', { as: { aud: 'org-access' } })).toMatchObject({ status: 401 });
  });

  it('from outside of the platform cannot read routes', async () => {
    expect(await platform.call('GET', '/internal/routes')).toMatchObject({ status: 401 });
  });

  it.each([
    ['GET', '/v2/deployments/not-a-uuid', 'deployment_id'],
    ['DELETE', '/v2/deployments/not-a-uuid', 'deployment_id'],
    ['GET', '/v2/deployments/not-a-uuid/revisions', 'deployment_id'],
    ['GET', `/v2/deployments/${MISSING}/revisions/x`, 'revision_id'],
  ])('with an invalid id gets 422: %s %s', async (method, path, field) => {
    expect(await platform.call(method, path)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['path', field], msg: expect.any(String), type: 'uuid_parsing' }] },
    });
  });
});

describe('the list of deployments', () => {
  const list = async (query: string, as: Partial<PrincipalClaims> = {}) =>
    (await platform.call<DeploymentList>('GET', `/v2/deployments${query}`, { as })).body;
  const names = async (query: string, as: Partial<PrincipalClaims> = {}) =>
    (await list(query, as)).resources.map((deployment) => deployment.name);

  it('has pages, the newest deployment first, and says where the next page begins', async () => {
    const everything = await list('?limit=100');
    const first = await list('?limit=2');
    const second = await list(`?limit=2&offset=${first.offset}`);
    expect(first.offset).toBe(2);
    expect([...first.resources, ...second.resources].map((each) => each.id)).toEqual(
      everything.resources.slice(0, 4).map((each) => each.id),
    );
    const times = everything.resources.map((each) => each.created_at);
    expect(times).toEqual([...times].sort().reverse());
  });

  it('is filtered by name, part of a name, status, type, ids and listener', async () => {
    expect(await names('?name=existing')).toEqual(['existing']);
    expect(await names('?name=exist')).toEqual([]);
    expect(await names('?name_contains=XIST')).toEqual(['existing']);
    expect(await names('?name_contains=%25')).toEqual([]);
    expect(await names(`?deployment_ids=${existing.id},${MISSING}`)).toEqual(['existing']);
    expect(await names('?name=existing&status=READY')).toEqual(['existing']);
    expect(await names('?name=existing&status=UNUSED')).toEqual([]);
    expect(await names('?name=existing&deployment_type=dev')).toEqual(['existing']);
    expect(await names('?name=existing&deployment_type=prod')).toEqual([]);
    expect(await names(`?name=existing&image_version=${AGENT_SERVER_LEVEL}`)).toEqual(['existing']);
    expect(await names('?name=existing&image_version=0.0.1')).toEqual([]);
    expect(await names('?name=existing&remote_reconciled=false')).toEqual(['existing']);
    expect(await names('?remote_reconciled=true')).toEqual([]);
  });

  it('leaves out, and refuses, what access policies exclude: unseen deployments look as if they did not exist', async () => {
    const as = { bounded_by_policies: true };
    const path = `/v2/deployments/${existing.id}`;
    const seen = async () =>
      (await platform.call<DeploymentList>('GET', '/v2/deployments?name=existing', { as })).body.resources.length;
    const patch = () => platform.call('PATCH', path, { as, body: {} });
    expect([await seen(), (await patch()).status]).toEqual([1, 200]);
    platform.callers.left.set(existing.id, ['deployments:read']);
    expect([await seen(), (await patch()).status]).toEqual([1, 403]);
    expect((await platform.call('DELETE', `/v2/deployments?deployment_ids=${existing.id}`, { as })).status).toBe(403);
    // A caller that may not change a deployment sees no secrets.
    for (const target of [path, '/v2/deployments?name=existing']) {
      const { body } = await platform.call<Deployment & DeploymentList>('GET', target, { as });
      expect((body.resources?.[0] ?? body).secrets).toBeNull();
    }
    platform.callers.left.set(existing.id, []);
    expect([await seen(), (await patch()).status]).toEqual([0, 404]);
    for (const below of ['', '/revisions', '/metrics', `/revisions/${existing.latest_revision_id}`]) {
      const hidden = await platform.call('GET', path + below, { as });
      const absent = await platform.call('GET', `/v2/deployments/${MISSING}${below}`, { as });
      expect(hidden.status).toBe(404);
      expect(JSON.stringify(hidden).replaceAll(existing.id, MISSING)).toBe(JSON.stringify(absent));
    }
    expect((await platform.call('POST', `/v1/projects/${existing.id}/deploy_logs`, { as, body: {} })).status).toBe(404);
    expect((await platform.call('PATCH', path, { body: {} })).status).toBe(200);
    platform.callers.isUnwell = true;
    try {
      expect((await platform.call('GET', path, { as })).status).toBe(503);
      expect((await platform.call('GET', path)).status).toBe(200);
    } finally {
      platform.callers.isUnwell = false;
      platform.callers.left.clear();
    }
  });

  it('shows and changes what access policies allow beyond the roles, and refuses bounded callers whole listeners', async () => {
    const path = `/v2/deployments/${existing.id}`;
    const as = { permissions: [], bounded_by_policies: true, permissions_by_policy: ['deployments:read'] };
    const call = async (method: string, target: string, claims: object = as) =>
      (await platform.call(method, target, { as: claims, ...(method !== 'GET' && { body: {} }) })).status;
    platform.callers.left.set(existing.id, ['deployments:read', 'deployments:update', 'deployments:delete']);
    try {
      expect(await names('?name=existing', as)).toEqual(['existing']);
      expect(await call('GET', path)).toBe(200);
      // A key that only reads gets what the policy allows to read.
      expect(await call('PATCH', path)).toBe(403);
      expect(await call('PATCH', path, { ...as, permissions_by_policy: ['deployments:update'] })).toBe(200);
      expect(await call('PATCH', path, { permissions: [] })).toBe(403);
      expect(await call('GET', '/v2/listeners')).toBe(403);
      const bounded = { bounded_by_policies: true };
      expect(await call('GET', '/v2/listeners', bounded)).toBe(200);
      expect(await call('POST', `/v2/listeners/${MISSING}/keys`, bounded)).toBe(403);
      expect(await call('GET', `/v2/listeners/${MISSING}/key-set`, bounded)).toBe(403);
    } finally {
      platform.callers.left.clear();
    }
  });

  it('is filtered by tags, which org-access has: without it the answer is 503, and other lists work on', async () => {
    const value = '0a6c8f3e-2f57-4f64-9a0f-1f3b7f0f3c02';
    platform.callers.tagged.set(value, [existing.id, MISSING]);
    expect(await names(`?tag_value_ids=${value}`)).toEqual(['existing']);
    expect(await names(`?name=other&tag_value_ids=${value}`)).toEqual([]);
    expect(await names(`?tag_value_ids=${MISSING}`)).toEqual([]);
    platform.callers.isUnwell = true;
    try {
      expect((await platform.call('GET', `/v2/deployments?tag_value_ids=${value}`)).status).toBe(503);
      expect(await names('?name=existing')).toEqual(['existing']);
    } finally {
      platform.callers.isUnwell = false;
    }
  });

  it.each(['?limit=0', '?limit=101', '?offset=-1', '?status=SLEEPING', '?deployment_ids=x', '?tag_value_ids=x'])(
    'answers 422 for %s',
    async (query) => {
      const { status, body } = await platform.call<{ detail: { loc: string[] }[] }>('GET', `/v2/deployments${query}`);
      expect(status).toBe(422);
      expect(body.detail[0]?.loc[0]).toBe('query');
    },
  );

  it.each(['name=a%00b', 'name_contains=none%00', 'offset=9999999999'])(
    'is empty for %s, without an error',
    async (query) => {
      expect(await names(`?${query}`)).toEqual([]);
    },
  );

  it('holds nothing of other workspaces', async () => {
    const answer = await platform.call<DeploymentList>('GET', '/v2/deployments', {
      as: { workspace_id: '22222222-0000-4000-8000-000000000009' },
    });
    expect(answer.body).toEqual({ resources: [], offset: 0 });
  });
});

describe('the list of revisions', () => {
  it('is filtered by statuses', async () => {
    const list = async (query: string) =>
      platform.call<RevisionList>('GET', `/v2/deployments/${existing.id}/revisions${query}`);
    expect((await list('')).body).toMatchObject({ resources: [{ id: existing.latest_revision_id }], offset: 1 });
    expect((await list('?status=DEPLOYED,QUEUED')).body.resources).toHaveLength(1);
    expect((await list('?status=QUEUED')).body.resources).toEqual([]);
    expect(await list('?status=HAPPY')).toMatchObject({ status: 422 });
  });
});

describe('the secrets of a deployment', () => {
  const CANARY = 'canary-value-3f9a7c';

  it('are shown to those who may update it, and to nobody else', async () => {
    const created = await platform.createHealthy({ secrets: [{ name: 'MODEL_KEY', value: CANARY }] });
    expect(created.secrets).toEqual([{ name: 'MODEL_KEY', value: CANARY }]);
    const reader = await platform.call<Deployment>('GET', `/v2/deployments/${created.id}`, {
      as: { permissions: ['deployments:read'] },
    });
    expect(reader.body.secrets).toBeNull();
  });

  it.each(['POSTGRES_URI_CUSTOM', 'REDIS_URI_CUSTOM'])(
    'are refused where they name a server for the deployment, which would be ignored (%s)',
    async (name) => {
      const secrets = [{ name, value: `postgres://me:${CANARY}@db.example.com/agents` }];
      const refusal = { status: 400, body: { detail: expect.stringContaining(`servers for a deployment: ${name}.`) } };
      const [made, patched] = [
        await platform.create({ secrets }),
        await platform.call('PATCH', `/v2/deployments/${existing.id}`, { body: { secrets } }),
      ];
      expect([made, patched]).toMatchObject([refusal, refusal]);
      expect(JSON.stringify([made, patched])).not.toContain(CANARY);
    },
  );

  it('are not in the database, in logs or in events', async () => {
    const created = await platform.createHealthy({ secrets: [{ name: 'MODEL_KEY', value: CANARY }] });
    await platform.call('PATCH', `/v2/deployments/${created.id}`, {
      body: { secrets: [{ name: 'FAIL_WITH', value: CANARY }] },
    });
    const failed = await platform.call<Deployment>('GET', `/v2/deployments/${created.id}`);
    const revision = await platform.untilStatus(created.id, failed.body.latest_revision_id!, 'DEPLOY_FAILED');
    expect(revision.status_message).toContain('cannot load the graph: ***');
    expect(await platform.dump()).not.toContain(CANARY);
    expect(platform.output()).not.toContain(CANARY);
  });
});

describe('a deployment that changed without a new revision', () => {
  it('keeps its revision, and accepts the values that were shown', async () => {
    const { custom_url } = existing.source_config;
    const { status, body } = await platform.call<Deployment>('PATCH', `/v2/deployments/${existing.id}`, {
      body: { source_config: { custom_url } },
    });
    expect({ status, revision: body.latest_revision_id }).toEqual({
      status: 200,
      revision: existing.latest_revision_id,
    });
    expect(body.source_config.custom_url).toBe(custom_url);
  });

  it.each([
    ['its URL', { source_config: { custom_url: 'https://elsewhere.example.com' } }],
    ['the commit that is built', { source_revision_config: { repo_commit_sha: 'abc' } }],
  ])('refuses %s, which the platform decides', async (_, body) => {
    const refusal = { status: 400, body: { detail: expect.stringContaining('is read-only') } };
    expect(await platform.call('PATCH', `/v2/deployments/${existing.id}`, { body })).toMatchObject(refusal);
    expect(await platform.create({ source: 'internal_source', source_config: {}, ...body })).toMatchObject(refusal);
  });

  it.each([
    ['revision_source', 'internal_source'],
    ['tracked_packages', ['langgraph:1.0.0']],
  ])('refuses %s, which would be lost without a new revision', async (field, value) => {
    const body = { [field]: value, source_config: { build_command: 'npm run build' } };
    expect(await platform.call('PATCH', `/v2/deployments/${existing.id}`, { body })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', field], type: 'value_error' }] },
    });
  });

  it('keeps its folder and its type', async () => {
    for (const change of [{ deployment_type: 'prod' }, { project_path: platform.folder }]) {
      const answer = await platform.call('PATCH', `/v2/deployments/${existing.id}`, {
        body: { source_config: change },
      });
      expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('cannot change') } });
    }
  });
});
