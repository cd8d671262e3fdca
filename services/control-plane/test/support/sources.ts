import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Deployment, UploadUrl } from '@runyard/contracts';
import { LINK_PACKAGES, PROJECT } from '@runyard/test-kit/built-project';
import { create } from 'tar';
import type { Answer, TestPlatform } from './platform.ts';

/** Makes a gzipped tar archive of these files. */
export async function archiveOf(platform: TestPlatform, files: Record<string, string>): Promise<Buffer> {
  const folder = await mkdtemp(join(platform.folder, 'source-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of create({ gzip: true, cwd: folder, portable: true }, Object.keys(files)))
    chunks.push(chunk as Buffer);
  await rm(folder, { recursive: true });
  return Buffer.concat(chunks);
}

/** Creates a deployment as the CLI does, before there is anything to run. */
export async function createEmpty(platform: TestPlatform, changes: Record<string, unknown> = {}): Promise<Deployment> {
  const { status, body } = await platform.create({ source: 'internal_source', source_config: {}, ...changes });
  if (status !== 201) throw new Error(`not created: ${JSON.stringify(body)}`);
  return body;
}

export async function uploadUrl(platform: TestPlatform, id: string): Promise<UploadUrl> {
  const { status, body } = await platform.call<UploadUrl>('POST', `/v2/deployments/${id}/upload-url`);
  if (status !== 200) throw new Error(`no upload URL: ${JSON.stringify(body)}`);
  return body;
}

export interface PutOptions {
  headers?: Record<string, string>;
  /** True when the body is sent without its length. */
  isChunked?: boolean;
}

/** Uploads to control-plane directly, although the URL names the gateway. */
export async function put(
  platform: TestPlatform,
  url: string,
  bytes: Buffer,
  { headers, isChunked = false }: PutOptions = {},
): Promise<{ status: number; detail: string | undefined }> {
  const { pathname, search } = new URL(url);
  const answer = await fetch(platform.service.url + pathname + search, {
    method: 'PUT',
    headers: { 'content-type': 'application/gzip', 'x-goog-content-length-range': '0,209715200', ...headers },
    body: isChunked ? new Blob([new Uint8Array(bytes)]).stream() : new Uint8Array(bytes),
    ...(isChunked && { duplex: 'half' }),
  } as RequestInit);
  const text = await answer.text();
  return { status: answer.status, detail: text === '' ? undefined : JSON.parse(text).detail };
}

/** Uploads these files and returns the path that names them. */
export async function upload(platform: TestPlatform, id: string, files: Record<string, string>): Promise<string> {
  const { upload_url, object_path } = await uploadUrl(platform, id);
  const { status, detail } = await put(platform, upload_url, await archiveOf(platform, files));
  if (status !== 200) throw new Error(`not uploaded: ${status} ${detail}`);
  return object_path;
}

export interface Order {
  files?: Record<string, string>;
  configPath?: string;
  /** Null: the project's lock file decides. */
  install_command?: string | null;
  build_command?: string;
  secrets?: Record<string, string>;
}

/** Uploads the project and requests a revision of it. */
export async function deploy(platform: TestPlatform, id: string, order: Order = {}): Promise<Answer<Deployment>> {
  const { files = PROJECT, configPath = 'langgraph.json', secrets } = order;
  const { install_command = LINK_PACKAGES, build_command } = order;
  return platform.call<Deployment>('PATCH', `/v2/deployments/${id}`, {
    body: {
      source_revision_config: {
        source_tarball_path: await upload(platform, id, files),
        langgraph_config_path: configPath,
      },
      source_config: { install_command, ...(build_command !== undefined && { build_command }) },
      ...(secrets && { secrets: Object.entries(secrets).map(([name, value]) => ({ name, value })) }),
    },
  });
}
