import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Deployment, Revision, RevisionList } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
let secretsDir: string;
beforeAll(async () => {
  secretsDir = await mkdtemp(join(tmpdir(), 'runyard-secrets-'));
  platform = await TestPlatform.start({ SECRET_REFERENCES_DIR: secretsDir });
});
afterAll(async () => {
  await platform.close();
  await rm(secretsDir, { recursive: true });
});

const patch = (id: string, body: object) => platform.call<Deployment>('PATCH', `/v2/deployments/${id}`, { body });
const revision = async (id: string, revisionId: string | null) =>
  (await platform.call<Revision>('GET', `/v2/deployments/${id}/revisions/${revisionId}`)).body;
const interrupt = (id: string, revisionId: string | null) =>
  platform.call<Revision>('POST', `/v2/deployments/${id}/revisions/${revisionId}/interrupt`);

/** Creates a deployment as `deploy` does, before there is anything to run. */
const createEmpty = (source: string) => platform.create({ source, source_config: {}, source_revision_config: {} });

describe('a deployment that is created before there is anything to run', () => {
  it('is UNUSED with a QUEUED revision, which is SKIPPED for the first one that has something to run', async () => {
    const { status, body: created } = await createEmpty('internal_docker');
    const image_uri = `agents.example.com/registry/${created.id}/agent:1.0`;
    expect({ status, deployment: created.status }).toEqual({ status: 201, deployment: 'UNUSED' });
    const first = created.latest_revision_id;
    expect(await revision(created.id, first)).toMatchObject({ status: 'QUEUED', source: 'internal_docker' });

    const { body: commanded } = await patch(created.id, { source_config: { install_command: 'npm ci' } });
    expect(commanded).toMatchObject({ latest_revision_id: first, source_config: { install_command: 'npm ci' } });

    const tracked_packages = ['langgraph:1.0.0'];
    const { body: filled } = await patch(created.id, {
      source_revision_config: { image_uri },
      tracked_packages,
      something_newer: true,
    });
    expect(filled.source_revision_config).toEqual({ image_uri });
    expect(await revision(created.id, first)).toMatchObject({ status: 'SKIPPED' });
    expect(await revision(created.id, filled.latest_revision_id)).toMatchObject({ tracked_packages });
    expect((await platform.get(created.id)).body.status).not.toBe('UNUSED');
  });

  it('stays UNUSED when only its secrets change', async () => {
    const { body: created } = await createEmpty('internal_source');
    const { body: changed } = await patch(created.id, { secrets: [{ name: 'A', value: '1' }] });
    expect(changed.status).toBe('UNUSED');
    expect((await revision(created.id, created.latest_revision_id)).status).toBe('SKIPPED');
    expect((await revision(created.id, changed.latest_revision_id)).status).toBe('QUEUED');
  });

  it.each([
    [
      'an archive that was never uploaded',
      { source_revision_config: { source_tarball_path: 'a', langgraph_config_path: 'b' } },
    ],
    ['an archive without a configuration', { source_revision_config: { source_tarball_path: 'a' } }],
    ['a repository', { source_config: { repo_url: 'https://example.com/a' } }],
    ['another type', { source_config: { deployment_type: 'prod' } }],
    ['build_on_push', { source_config: { build_on_push: true } }],
  ])('refuses %s with 400 and stays as it was', async (_, body) => {
    const { body: created } = await createEmpty('internal_source');
    expect(await patch(created.id, body)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('Source configuration error: ') },
    });
    expect((await platform.get(created.id)).body).toEqual(created);
  });
});

describe('a revision that is interrupted', () => {
  it('ends before it is deployed, and never becomes the active one', async () => {
    const { id, active_revision_id: serving } = await platform.createHealthy();
    const { body: changed } = await patch(id, { secrets: [{ name: 'NEVER_HEALTHY', value: 'true' }] });
    await platform.untilStatus(id, changed.latest_revision_id!, 'DEPLOYING');
    expect(await interrupt(id, changed.latest_revision_id)).toMatchObject({
      status: 200,
      body: { status: 'INTERRUPTED' },
    });
    expect(await interrupt(id, changed.latest_revision_id)).toMatchObject({ status: 200 });
    // The next revision is rolled out only after the interrupted one has ended.
    const { body: next } = await patch(id, { secrets: [{ name: 'A', value: '1' }] });
    await platform.untilStatus(id, next.latest_revision_id!, 'DEPLOYED');
    expect((await revision(id, changed.latest_revision_id)).status).toBe('INTERRUPTED');
    expect(await interrupt(id, serving)).toEqual({
      status: 400,
      body: { detail: 'The revision is DEPLOYED and cannot be interrupted.' },
    });
  });
});

describe('the revisions of a deployment', () => {
  it('are redeployed with everything they had', async () => {
    const { id, latest_revision_id: first } = await platform.createHealthy({
      secrets: [{ name: 'A', value: 'first' }],
    });
    const { body: changed } = await patch(id, {
      secrets: [{ name: 'A', value: 'second' }],
      source_config: { resource_spec: { memory_mb: 256 } },
    });
    await platform.untilStatus(id, changed.latest_revision_id!, 'DEPLOYED');
    const redeploy = `/v2/deployments/${id}/revisions/${first}/redeploy`;
    const { status, body: back } = await platform.call<Deployment>('POST', redeploy);
    expect({ status, secrets: back.secrets, resources: back.source_config.resource_spec }).toEqual({
      status: 200,
      secrets: [{ name: 'A', value: 'first' }],
      resources: undefined,
    });
    await platform.untilStatus(id, back.latest_revision_id!, 'DEPLOYED');
    const list = async (query: string) =>
      (await platform.call<RevisionList>('GET', `/v2/deployments/${id}/revisions${query}`)).body;
    const page = await list('?limit=2');
    expect(page).toMatchObject({
      offset: 2,
      resources: [{ id: back.latest_revision_id }, { id: changed.latest_revision_id }],
    });
    expect((await list('?limit=2&offset=2')).resources.map((each) => each.id)).toEqual([first]);
    expect((await list('?remote_reconciled=true')).resources).toEqual([]);
    expect((await list('?remote_reconciled=false')).resources).toHaveLength(3);
  });
});

describe('secrets that are stored elsewhere', () => {
  const reference = { name: 'MODEL_KEY', secret_name: 'models', secret_key: 'key' };

  it('reach the code of the project, and only their location is shown', async () => {
    const folder = join(secretsDir, WORKSPACE, 'models');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'key'), 'canary-of-a-reference');
    const created = await platform.createHealthy({ secret_references: [reference] });
    expect(created.secret_references).toEqual([reference]);
    const answer = await fetch(`${await platform.upstreamOf(created.id)}/started-with`);
    const { secrets } = (await answer.json()) as { secrets: { PROJECT_ENV: string } };
    expect(JSON.parse(secrets.PROJECT_ENV)).toMatchObject({ MODEL_KEY: 'canary-of-a-reference' });
    expect(await platform.dump()).not.toContain('canary-of-a-reference');
  });

  it('to secrets of the workspace get their values when the revision starts, as soon as org-access answers', async () => {
    const { workspaceSecrets } = platform.callers;
    workspaceSecrets.set('OPENAI', 'canary-of-a-workspace');
    platform.callers.isUnwell = true;
    const ofWorkspace = { name: 'MODEL_KEY', secret_name: 'workspace-secrets', secret_key: 'OPENAI' };
    const { body } = await platform.create({ secret_references: [ofWorkspace] });
    await waitFor(() => platform.output().includes('The secrets of the workspace cannot be read'));
    platform.callers.isUnwell = false;
    await platform.untilStatus(body.id, body.latest_revision_id!, 'DEPLOYED');
    const answer = await fetch(`${await platform.upstreamOf(body.id)}/started-with`);
    const { secrets } = (await answer.json()) as { secrets: { PROJECT_ENV: string } };
    expect(JSON.parse(secrets.PROJECT_ENV)).toMatchObject({ MODEL_KEY: 'canary-of-a-workspace' });
    expect((await platform.get(body.id)).body.secret_references).toEqual([ofWorkspace]);
    expect(await platform.dump()).not.toContain('canary-of-a-workspace');
    expect(platform.output()).not.toContain('canary-of-a-workspace');
    workspaceSecrets.clear();
    const lost = await platform.create({ secret_references: [ofWorkspace] });
    const failed = await platform.untilStatus(lost.body.id, lost.body.latest_revision_id!, 'DEPLOY_FAILED');
    expect(failed.status_message).toContain('The workspace has no secret OPENAI for variable MODEL_KEY');
  });

  it('fail the revision that refers to a missing one', async () => {
    const { body } = await platform.create({ secret_references: [{ ...reference, secret_key: 'missing' }] });
    const failed = await platform.untilStatus(body.id, body.latest_revision_id!, 'DEPLOY_FAILED');
    expect(failed.status_message).toContain('Secret models has no key missing');
  });

  it('cannot have the names of secrets, or leave their folder', async () => {
    const secrets = [{ name: 'MODEL_KEY', value: 'a' }];
    expect(await platform.create({ secrets, secret_references: [reference] })).toMatchObject({ status: 400 });
    const outside = [{ ...reference, secret_name: '../other' }];
    expect(await platform.create({ secret_references: outside })).toMatchObject({ status: 422 });
  });
});
