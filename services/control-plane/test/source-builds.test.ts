import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Deployment, LogPage, Revision } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { LINK_PACKAGES, PROJECT } from '@runyard/test-kit/built-project';
import { WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { TestPlatform } from './support/platform.ts';
import { createEmpty, deploy } from './support/sources.ts';

let platform: TestPlatform;
let secretsDir: string;
beforeAll(async () => {
  secretsDir = await mkdtemp(join(tmpdir(), 'runyard-secrets-'));
  platform = await TestPlatform.start({ SECRET_REFERENCES_DIR: secretsDir }, { hasOwnProcess: true });
});
afterAll(async () => {
  await platform.close();
  await rm(secretsDir, { recursive: true });
});

const revisionOf = async (id: string, revisionId: string) =>
  (await platform.call<Revision>('GET', `/v2/deployments/${id}/revisions/${revisionId}`)).body;
const projectOf = async (id: string): Promise<string> => {
  const answer = await fetch(`${await platform.upstreamOf(id)}/started-with`);
  return ((await answer.json()) as { env: { PROJECT_DIR: string } }).env.PROJECT_DIR;
};
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);

/** Makes a command that reports that it was reached, and waits until the test opens it. */
function gate(name: string) {
  const path = join(platform.folder, name);
  return {
    command: `echo $$ > ${path}.at && while [ ! -e ${path}.open ]; do sleep 0.05; done`,
    /** Resolves with the id of the process that waits. */
    reached: () => waitFor(async () => Number(await readFile(`${path}.at`, 'utf8').catch(() => '')) || null),
    open: () => writeFile(`${path}.open`, ''),
  };
}

/** Creates a deployment that is deleted with its test: each restart of control-plane would start it again. */
async function createForTest(changes: Record<string, unknown> = {}): Promise<string> {
  const { id } = await createEmpty(platform, changes);
  onTestFinished(async () => void (await platform.call('DELETE', `/v2/deployments/${id}`)));
  return id;
}

async function deployed(id: string, order = {}): Promise<string> {
  const { status, body } = await deploy(platform, id, order);
  if (status !== 200) throw new Error(JSON.stringify(body));
  await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
  return body.latest_revision_id!;
}

// Its tests go on with one deployment, in this order.
describe('an uploaded source', () => {
  let id: string;
  let first: string;

  it('waits for its first revision, and is then built and run', async () => {
    const empty = await createEmpty(platform);
    id = empty.id;
    await platform.untilStatus(id, empty.latest_revision_id!, 'QUEUED');
    await deployed(id);
    expect((await revisionOf(id, empty.latest_revision_id!)).status).toBe('SKIPPED');
    first = await projectOf(id);
    expect(first.startsWith(join(platform.dataPlane.folder, 'artifacts', id))).toBe(true);
    expect(JSON.parse(await readFile(join(first, 'langgraph.json'), 'utf8'))).toEqual(
      JSON.parse(PROJECT['langgraph.json']),
    );
  });

  it('is built once for revisions with equal inputs, and unused builds are removed', async () => {
    const { body } = await platform.call<Deployment>('PATCH', `/v2/deployments/${id}`, {
      body: { secrets: [{ name: 'COLOR', value: 'blue' }] },
    });
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    await waitFor(async () => (await platform.routeOf(id))?.active_revision_id === body.latest_revision_id);
    expect(await projectOf(id)).toBe(first);
    await deployed(id, { build_command: 'touch built' });
    await waitFor(() => !existsSync(first), { what: 'the end of the first build' });
    expect(existsSync(join(await projectOf(id), 'built'))).toBe(true);
  });

  it('is fetched again when its build is lost from the disk', async () => {
    const project = await projectOf(id);
    await platform.stopService();
    await rm(join(platform.dataPlane.folder, 'artifacts'), { recursive: true });
    await platform.startService();
    await waitFor(async () => (await projectOf(id).catch(() => project)) !== project);
  });

  it('leaves no file when its deployment is deleted', async () => {
    await platform.call('DELETE', `/v2/deployments/${id}`);
    for (const folder of ['artifacts', 'builds', 'build-caches', 'build-tools', 'objects/deployments', 'logs']) {
      expect(await readdir(join(platform.folder, folder)).catch(() => [])).not.toContain(id);
    }
  });
});

it('a build that fails is reported with the last lines of its log, and the active revision goes on', async () => {
  const id = await createForTest();
  const active = await deployed(id);
  const { body } = await deploy(platform, id, { install_command: 'echo no such package >&2; exit 4' });
  const failed = await platform.untilStatus(id, body.latest_revision_id!, 'BUILD_FAILED');
  expect(failed.status_message).toMatch(/ended with code 4\.\nThe last lines[\s\S]*no such package/);
  expect((await platform.get(id)).body.active_revision_id).toBe(active);
  expect((await platform.routeOf(id))!.upstreams).toHaveLength(1);
});

it('graphs are loaded with all secrets, which the log does not show, and commands see only those for registries', async () => {
  const folder = join(secretsDir, WORKSPACE, 'models');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'key'), 'value-kept-elsewhere');
  const id = await createForTest({
    secret_references: [{ name: 'REFERENCED_KEY', secret_name: 'models', secret_key: 'key' }],
  });
  const needsBoth = `
    for (const name of ['MODEL_KEY', 'REFERENCED_KEY']) {
      if (!process.env[name]) throw new Error('no ' + name);
      console.log(name + ' is ' + process.env[name]);
    }`;
  const out = join(platform.folder, 'environment');
  const revisionId = await deployed(id, {
    files: { ...PROJECT, 'agent.mjs': `${PROJECT['agent.mjs']}\n${needsBoth}` },
    install_command: `env > ${out} && echo the key is model-key-value && ${LINK_PACKAGES}`,
    secrets: { MODEL_KEY: 'model-key-value', NPM_TOKEN: 'registry-token-value' },
  });
  const path = `/v1/projects/${id}/revisions/${revisionId}/build_logs`;
  const { logs } = (await platform.call<LogPage>('POST', path, { body: { query: '_KEY is' } })).body;
  expect(logs.map(({ message }) => message)).toEqual(['MODEL_KEY is ***', 'REFERENCED_KEY is ***']);
  const environment = `\n${readFileSync(out, 'utf8')}`;
  expect(environment).toContain('NPM_TOKEN=registry-token-value');
  for (const hidden of [
    'model-key-value',
    'value-kept-elsewhere',
    'ENCRYPTION_KEY',
    'INTERNAL_TOKEN',
    '\nDATA_',
    '\nRUNYARD_',
    platform.encryptionKey,
  ])
    expect(environment).not.toContain(hidden);
  expect(platform.output()).not.toContain('model-key-value');
});

it('only the newest of the revisions that are created during a build is built', async () => {
  const id = await createForTest();
  const first = gate('first');
  const building = await deploy(platform, id, { install_command: `${first.command} && ${LINK_PACKAGES}` });
  await first.reached();
  const later = [];
  for (const name of ['second', 'third']) {
    later.push(await deploy(platform, id, { build_command: `touch ${join(platform.folder, name)}` }));
  }
  await first.open();
  const [second, third] = later.map((answer) => answer.body.latest_revision_id!);
  await platform.untilStatus(id, third!, 'DEPLOYED');
  expect((await revisionOf(id, building.body.latest_revision_id!)).status).toBe('DEPLOYED');
  expect((await revisionOf(id, second!)).status).toBe('SKIPPED');
  expect(existsSync(join(platform.folder, 'second'))).toBe(false);
});

describe('a build in progress', () => {
  it('ends with all its processes when its deployment is deleted', async () => {
    const id = await createForTest();
    const held = gate('deleted');
    await deploy(platform, id, { install_command: `(${held.command}) & wait` });
    const pid = await held.reached();
    await platform.call('DELETE', `/v2/deployments/${id}`);
    await waitFor(() => !isAlive(pid), { what: 'the end of the build' });
    expect((await platform.get(id)).status).toBe(404);
  });

  it('goes on while control-plane is killed, and the next one takes its result', async () => {
    const id = await createForTest();
    const held = gate('killed');
    const { body } = await deploy(platform, id, { install_command: `${held.command} && ${LINK_PACKAGES}` });
    const pid = await held.reached();
    await platform.kill();
    await platform.startService();
    await held.open();
    await platform.untilStatus(id, body.latest_revision_id!, 'DEPLOYED');
    expect(await readFile(join(platform.folder, 'killed.at'), 'utf8')).toBe(`${pid}\n`);
  });
});
