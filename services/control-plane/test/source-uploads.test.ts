import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deployment, UploadUrl } from '@runyard/contracts';
import { withDatabaseClient } from '@runyard/test-kit';
import { PROJECT } from '@runyard/test-kit/built-project';
import { OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { BODY_CUTS, sendCutBody } from '@runyard/test-kit/cut-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { archiveOf, createEmpty, put, upload, uploadUrl } from './support/sources.ts';

let platform: TestPlatform;
let deployment: Deployment;
let archive: Buffer;
beforeAll(async () => {
  platform = await TestPlatform.start();
  deployment = await createEmpty(platform, { name: 'uploading' });
  archive = await archiveOf(platform, PROJECT);
});
afterAll(() => platform.close());

const objectAt = (path: string) => join(platform.folder, 'objects', path);
const patched = (id: string, source_tarball_path: string) =>
  platform.call<Deployment & { detail: string }>('PATCH', `/v2/deployments/${id}`, {
    body: { source_revision_config: { source_tarball_path, langgraph_config_path: 'langgraph.json' } },
  });

describe('an upload URL', () => {
  it('names the gateway, and is for one object of the deployment', async () => {
    const { upload_url, object_path, ...others } = await uploadUrl(platform, deployment.id);
    expect(upload_url).toMatch(/^https:\/\/agents\.example\.com\/v2\/uploads\/[0-9a-f-]{36}\?expires=\d+&signature=/);
    expect(object_path).toMatch(new RegExp(`^deployments/${deployment.id}/sources/[0-9a-f-]{36}\\.tar\\.gz$`));
    expect(others).toEqual({});
  });

  it('comes with the required headers for clients that support them', async () => {
    const { body } = await platform.call<UploadUrl>('POST', `/v2/deployments/${deployment.id}/upload-url`, {
      body: { supports_upload_headers: true },
    });
    expect(body.upload_headers).toMatchObject({ 'X-Goog-Content-Length-Range': '0,209715200' });
  });

  it('is not issued for a deployment of another workspace, nor to callers who may not update it', async () => {
    const path = `/v2/deployments/${deployment.id}/upload-url`;
    expect(await platform.call('POST', path, { as: { workspace_id: OTHER_WORKSPACE } })).toEqual({
      status: 404,
      body: { detail: `Deployment ID ${deployment.id} not found.` },
    });
    expect(await platform.call('POST', path, { as: { permissions: ['deployments:read'] } })).toMatchObject({
      status: 403,
    });
  });

  it('accepts an archive without a key, and another one while no revision uses it', async () => {
    const { upload_url, object_path } = await uploadUrl(platform, deployment.id);
    expect(await put(platform, upload_url, archive)).toEqual({ status: 200, detail: undefined });
    expect(await put(platform, upload_url, archive, { isChunked: true })).toMatchObject({ status: 200 });
    expect(existsSync(objectAt(object_path))).toBe(true);
  });

  it.each<[string, (url: URL) => void]>([
    ['another signature', (url) => url.searchParams.set('signature', 'AAAA')],
    ['a later end', (url) => url.searchParams.set('expires', '9999999999')],
    [
      'another object',
      (url) => {
        url.pathname = url.pathname.replace(/[^/]+$/, '0192f7a0-0000-7000-8000-0000000000ee');
      },
    ],
  ])('with %s accepts nothing', async (_, change) => {
    const { upload_url, object_path } = await uploadUrl(platform, deployment.id);
    const url = new URL(upload_url);
    change(url);
    const answer = await put(platform, url.href, archive);
    expect(answer).toEqual({ status: 403, detail: 'This upload URL is not valid, or has expired.' });
    expect(existsSync(objectAt(object_path))).toBe(false);
  });

  it.each([
    ['another content type', { headers: { 'content-type': 'text/plain' } }, 415],
    ['a range of nonsense', { headers: { 'x-goog-content-length-range': 'much' } }, 400],
    ['more than its range', { headers: { 'x-goog-content-length-range': '0,10' } }, 413],
    [
      'more than its range, without saying how much',
      { headers: { 'x-goog-content-length-range': '0,10' }, isChunked: true },
      413,
    ],
    ['less than its range', { headers: { 'x-goog-content-length-range': '100000,200000' } }, 400],
    ['more than anybody may', { headers: { 'content-length': '209715201' } }, 413],
  ])('refuses %s', async (_, options, status) => {
    const { upload_url, object_path } = await uploadUrl(platform, deployment.id);
    if ('content-length' in options.headers) {
      const { pathname, search } = new URL(upload_url);
      const { request } = await import('node:http');
      const answer = await new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'content-type': 'application/gzip', ...options.headers };
        const sent = request(platform.service.url + pathname + search, { method: 'PUT', headers }, (response) => {
          resolve(response.statusCode);
          sent.destroy();
        });
        sent.on('error', reject);
        sent.flushHeaders();
      });
      expect(answer).toBe(status);
    } else {
      expect(await put(platform, upload_url, archive, options)).toMatchObject({ status });
    }
    expect(existsSync(objectAt(object_path))).toBe(false);
    expect(await readdir(join(platform.folder, 'uploads'))).toEqual([]);
  });

  it.each(BODY_CUTS)('that has refused a body serves the next request on its connection: $name', async (cut) => {
    const { pathname, search } = new URL((await uploadUrl(platform, deployment.id)).upload_url);
    const headers = { 'content-type': 'application/gzip', 'x-goog-content-length-range': '0,10' };
    const next = '/v2/deployments';
    const answers = await sendCutBody(platform.service.url + pathname + search, { cut, method: 'PUT', headers, next });
    expect(answers).toEqual({ first: 413, next: 401 });
  });
});

describe('a revision', () => {
  it('accepts only a path that was issued for its deployment and has an upload', async () => {
    const other = await createEmpty(platform);
    const foreign = await upload(platform, other.id, PROJECT);
    for (const path of [foreign, '../../etc/passwd', `deployments/${deployment.id}/sources/x.tar.gz`]) {
      const { status, body } = await patched(deployment.id, path);
      expect({ status, detail: body.detail }).toEqual({
        status: 400,
        detail: expect.stringContaining('must be an object_path that upload-url gave'),
      });
    }
    const { object_path } = await uploadUrl(platform, deployment.id);
    expect(await patched(deployment.id, object_path)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('names an upload that was not made') },
    });
  });

  it('keeps its archive, which cannot be overwritten', async () => {
    const { id } = await createEmpty(platform);
    const { upload_url, object_path } = await uploadUrl(platform, id);
    await put(platform, upload_url, archive);
    expect((await patched(id, object_path)).status).toBe(200);
    expect(await put(platform, upload_url, archive)).toMatchObject({ status: 409 });
  });
});

it('expired archives without a revision are removed, and those with one stay', async () => {
  const { id } = await createEmpty(platform);
  const unused = await upload(platform, id, PROJECT);
  const used = await upload(platform, id, PROJECT);
  expect((await patched(id, used)).status).toBe(200);
  await withDatabaseClient(platform.database.url, (client) =>
    client.query("UPDATE source_upload SET expires_at = now() - '1 s'::interval"),
  );
  await platform.stopService();
  await platform.startService();
  await expect.poll(() => existsSync(objectAt(unused))).toBe(false);
  expect(existsSync(objectAt(used))).toBe(true);
});

it('a deleted deployment leaves no object', async () => {
  const { id } = await createEmpty(platform);
  await upload(platform, id, PROJECT);
  await platform.call('DELETE', `/v2/deployments/${id}`);
  await expect.poll(() => existsSync(objectAt(`deployments/${id}/sources`))).toBe(false);
});
