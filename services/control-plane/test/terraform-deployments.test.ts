import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Deployment, DeploymentList, Revision, RevisionList } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { LINK_PACKAGES, PROJECT } from '@runyard/test-kit/built-project';
import { WORKSPACE } from '@runyard/test-kit/callers';
import { ENGINE, engineVariables } from '@runyard/test-kit/fake-engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { createEmpty } from './support/sources.ts';

/**
 * Replays the requests of the Terraform provider for LangSmith about deployments, in its order. Its other resources are
 * replayed with org-access.
 */
let platform: TestPlatform;
let engineFolder: string;
beforeAll(async () => {
  engineFolder = join(tmpdir(), `runyard-engine-${randomUUID()}`);
  const env = { CONTAINER_ENGINE_COMMAND: ENGINE, ...engineVariables(engineFolder) };
  // The engine inherits the variables of the process.
  platform = await TestPlatform.start(env, { hasOwnProcess: true });
});
afterAll(async () => {
  await platform.close();
  await rm(engineFolder, { recursive: true, force: true });
});

const DEPLOYMENTS = '/v2/deployments';

/** Sends a request whose answer the provider reads: it has to be JSON and not empty. */
async function read<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await fetch(platform.service.url + path, {
    method,
    headers: await platform.callers.headers(),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect({ request: `${method} ${path}`, status: answer.status, text }).toMatchObject({
    status: answer.status === 201 ? 201 : 200,
  });
  expect(answer.headers.get('content-type')).toContain('application/json');
  return JSON.parse(text) as Body;
}

const statusOf = async (method: string, path: string, body?: unknown) =>
  (await platform.call(method, path, { body })).status;

/** Refreshes the state: the deployment and its latest revision, which has to be there. */
async function refresh(id: string) {
  const deployment = await read<Deployment>('GET', `${DEPLOYMENTS}/${id}`);
  return { deployment, revision: await revisionOf(id, deployment.latest_revision_id!) };
}
const revisionOf = (id: string, revision: string) =>
  read<Revision>('GET', `${DEPLOYMENTS}/${id}/revisions/${revision}`);

async function create(body: object): Promise<string> {
  const made = await read<Deployment>('POST', DEPLOYMENTS, body);
  await platform.untilStatus(made.id, made.latest_revision_id!, 'DEPLOYED');
  return made.id;
}

async function revise(id: string, body: object): Promise<void> {
  const made = await read<Revision>('POST', `${DEPLOYMENTS}/${id}/revisions`, body);
  expect(made.status).toEqual(expect.any(String));
  await platform.untilStatus(id, made.id, 'DEPLOYED');
}

async function destroy(id: string): Promise<void> {
  expect(await statusOf('DELETE', `${DEPLOYMENTS}/${id}`)).toBeLessThan(300);
  await waitFor(async () => (await statusOf('GET', `${DEPLOYMENTS}/${id}`)) === 404, { what: `the end of ${id}` });
}

/** Expects that two plans in succession find nothing to do: the state is the same, and has all that was sent. */
async function expectEmptyPlan(id: string, sent: object) {
  const first = await refresh(id);
  expect(first.deployment).toMatchObject(sent);
  expect(await refresh(id)).toEqual(first);
  return first.deployment;
}

/** Tables of which no row belongs to a deployment; an address outlives its deployment. */
const OWN_TABLES = ['outbox', 'idempotency_key', 'duty', 'base_layer', 'deployment_address'];

/** Counts the rows of each table. */
function countRows(): Promise<Record<string, number>> {
  return withDatabaseClient(platform.database.url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> ALL ($1)`,
      [OWN_TABLES],
    );
    const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count(*)::int FROM "${name}"`);
    const { rows } = await client.query<{ name: string; count: number }>(counts.join(' UNION ALL '));
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  });
}

const prod = { deployment_type: 'prod' };
const ofRepository = { source: 'github', source_config: { repo_url: 'https://example.com/acme/agent' } };

describe("the Terraform provider's langsmith_deployment", () => {
  it('of an image is made, changed, read back as it was sent, and leaves nothing', async () => {
    platform.callers.workspaceSecrets.set('MODEL', 'of the workspace');
    const before = await countRows();
    const sent = {
      name: 'Terraform – image',
      source: 'external_docker',
      source_config: {
        custom_url: 'agents.example.org',
        resource_spec: { min_scale: 1, max_scale: 2, cpu: 0.25, cpu_limit: 0.333, memory_mb: 512 },
      },
      source_revision_config: { image_uri: 'registry.example.com/Team/agent:1.0' },
      secrets: [
        { name: 'TOKEN', value: ' as it is ' },
        { name: 'EMPTY', value: '' },
      ],
      secret_references: [{ name: 'MODEL_KEY', secret_name: 'workspace-secrets', secret_key: 'MODEL' }],
    };
    const id = await create(sent);
    await read('PATCH', `${DEPLOYMENTS}/${id}`, { display_name: 'Image of the team' });
    const made = await expectEmptyPlan(id, { ...sent, display_name: 'Image of the team', tenant_id: WORKSPACE });
    expect(await countRows()).toMatchObject({ deployment: before.deployment! + 1, revision: before.revision! + 1 });
    expect(made.source_config).toEqual({ ...sent.source_config, deployment_type: 'dev' });
    expect(made.active_revision_id).toBe(made.latest_revision_id);

    for (const custom_url of ['https://agents.example.org/Image/', 'agents.example.org']) {
      const change = { display_name: 'Image', source_config: { custom_url } };
      const renamed = await read<Deployment>('PATCH', `${DEPLOYMENTS}/${id}`, change);
      expect(renamed).toMatchObject({ ...change, latest_revision_id: made.latest_revision_id });
    }
    const source_revision_config = { image_uri: 'registry.example.com/Team/agent:1.1' };
    const resource_spec = { ...sent.source_config.resource_spec, cpu: 0.5, cpu_limit: null, sidecars: null };
    await revise(id, { source_revision_config, source_config: { resource_spec } });
    const changed = await expectEmptyPlan(id, {
      ...sent,
      display_name: 'Image',
      source_revision_config,
      source_config: {},
    });
    const { cpu_limit: _, ...resources } = sent.source_config.resource_spec;
    expect(changed.source_config.resource_spec).toEqual({ ...resources, cpu: 0.5 });

    const secrets = [{ name: 'OTHER', value: 'x' }];
    await revise(id, { source_revision_config, secrets, secret_references: [] });
    const last = await expectEmptyPlan(id, { secrets, secret_references: [], display_name: 'Image' });

    const list = await read<RevisionList>(
      'GET',
      `${DEPLOYMENTS}/${id}/revisions?limit=50&offset=0&status=DEPLOYED,SKIPPED`,
    );
    expect(list).toMatchObject({
      offset: 3,
      resources: [{ id: last.latest_revision_id }, {}, { id: made.latest_revision_id }],
    });
    expect(await revisionOf(id, made.latest_revision_id!)).toEqual(list.resources[2]);
    await destroy(id);
    expect(await countRows()).toEqual(before);
  });

  it('of a repository is made from its default branch, changed, and read back as it was sent', async () => {
    const repository = join(platform.folder, 'repository');
    await mkdir(repository);
    for (const [name, content] of Object.entries(PROJECT)) await writeFile(join(repository, name), content);
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-C', repository, ...args]);
    git('init', '--quiet', '--initial-branch=trunk');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'the project');

    const before = await countRows();
    const sent = {
      name: 'terraform-repository',
      source: 'github',
      source_config: {
        repo_url: repository,
        deployment_type: 'prod',
        build_on_push: false,
        install_command: LINK_PACKAGES,
        resource_spec: {},
      },
      source_revision_config: { langgraph_config_path: 'langgraph.json' },
      secrets: [],
    };
    const id = await create(sent);
    const made = await expectEmptyPlan(id, { ...sent, display_name: null });
    expect(made.source_revision_config).not.toHaveProperty('repo_ref');
    const pushed = await read<Deployment>('PATCH', `${DEPLOYMENTS}/${id}`, { source_config: { build_on_push: true } });
    expect(pushed).toMatchObject({
      latest_revision_id: made.latest_revision_id,
      source_config: { build_on_push: true },
    });
    const install_command = `${LINK_PACKAGES} `;
    const source_revision_config = { ...sent.source_revision_config, repo_ref: 'trunk' };
    await revise(id, {
      source_revision_config,
      source_config: { build_on_push: true, install_command, resource_spec: {} },
    });
    await expectEmptyPlan(id, {
      ...sent,
      source_revision_config,
      source_config: { ...sent.source_config, build_on_push: true, install_command },
    });
    await destroy(id);
    expect(await countRows()).toEqual(before);
  });

  it('is planned with a key that may only read, which sees that it may not read secrets', async () => {
    const { id, name } = await createEmpty(platform, { secrets: [{ name: 'TOKEN', value: 'x' }] });
    const as = { permissions: ['deployments:read'] };
    for (const path of [`/${id}`, `?name=${name}`]) {
      const { body } = await platform.call<Deployment & DeploymentList>('GET', DEPLOYMENTS + path, { as });
      expect((body.resources?.[0] ?? body).secrets).toBeNull();
    }
    await destroy(id);
  });

  it('takes an empty value in the place of another one', async () => {
    const { id } = (await platform.create({ secrets: [{ name: 'TOKEN', value: 'x' }] })).body;
    const secrets = [{ name: 'TOKEN', value: '' }];
    await read<Revision>('POST', `${DEPLOYMENTS}/${id}/revisions`, { source_revision_config: {}, secrets });
    expect((await refresh(id)).deployment).toMatchObject({ secrets });
    await destroy(id);
  });

  it.each(['dev_zero', 'dev_free_zero'])('of the type %s keeps its minimum of no process', async (deployment_type) => {
    const resource_spec = { min_scale: 0, max_scale: 2 };
    const source_config = { project_path: platform.projectDir, deployment_type, resource_spec };
    const { id } = await read<Deployment>('POST', DEPLOYMENTS, {
      name: `terraform-${deployment_type}`,
      source: 'local_directory',
      source_config,
      source_revision_config: {},
    });
    expect((await refresh(id)).deployment).toMatchObject({ source_config });
    await destroy(id);
  });

  it('that was deleted behind its back is not found, whatever is asked of it', async () => {
    const { id, latest_revision_id: revision } = await platform.createHealthy();
    await destroy(id);
    for (const [method, path, body] of [
      ['GET', ''],
      ['GET', `/revisions/${revision}`],
      ['GET', '/revisions'],
      ['PATCH', '', { display_name: 'x' }],
      ['POST', '/revisions', { source_revision_config: {} }],
      ['DELETE', ''],
    ] as const) {
      expect([method, path, await statusOf(method, `${DEPLOYMENTS}/${id}${path}`, body)]).toEqual([method, path, 404]);
    }
  });
});

describe("a request of the Terraform provider's langsmith_deployment", () => {
  let refusing: Deployment;
  beforeAll(async () => {
    refusing = await createEmpty(platform);
  });

  it.each([
    ['an empty display name', 'PATCH', { display_name: '' }, 422, 'display_name'],
    ['a secret without a value', 'PATCH', { secrets: [{ name: 'A', value: null }] }, 422, 'secrets'],
    ['a secret twice', 'PATCH', { secrets: [1, 2].map((each) => ({ name: 'A', value: `${each}` })) }, 400, 'twice: A'],
    ['a template', 'POST', { source: 'internal_template', source_config: { template_id: 'chat' } }, 422, 'source'],
    ['a name that is taken', 'POST', {}, 400, 'already exists'],
    ['no image', 'POST', { source_revision_config: {} }, 400, "'source_revision_config.image_uri' is required"],
    ['no path', 'POST', { ...ofRepository, source_revision_config: {} }, 400, 'langgraph_config_path'],
    [
      'a production of nothing',
      'POST',
      { source_config: { ...prod, resource_spec: { min_scale: 0 } } },
      422,
      'min_scale',
    ],
  ])('with %s is refused once, and the answer says why', async (_, method, change, status, reason) => {
    const { id, name } = refusing;
    const image = {
      source: 'external_docker',
      source_config: {},
      source_revision_config: { image_uri: 'a.example/b' },
    };
    const path = method === 'POST' ? DEPLOYMENTS : `${DEPLOYMENTS}/${id}`;
    const answer = await platform.call(method, path, {
      body: method === 'POST' ? { name, ...image, ...change } : change,
    });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(reason);
  });
});
