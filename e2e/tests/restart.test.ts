import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@langchain/langgraph-sdk';
import type { RunSearchPage } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { expect, it, onTestFinished } from 'vitest';
import { collectEvents, newClient } from '../harness/client.ts';
import { type Platform, startPlatform } from '../harness/platform.ts';

const repository = path.resolve(import.meta.dirname, '../..');
const example = path.join(repository, 'examples/hello-agent');
/** Bytes of the published package, without what it depends on. */
const PACKED_BYTES_MAX = 25_000_000;

interface Installation {
  /** The command. */
  runyard: string;
  /** The variables of a user who has nothing but Node.js. */
  env: Record<string, string>;
}

/** Packs this checkout and installs that as somebody does who has never seen it. */
async function installPackage(): Promise<Installation> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-installed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // Users whom code of projects may run as can look at it, as at what an administrator installs.
  await chmod(folder, 0o755);
  const env = { HOME: path.join(folder, 'home'), XDG_CACHE_HOME: '', RUNYARD_HOME: '' };
  await mkdir(env.HOME);
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [path.join(repository, 'infra/build/pack.mjs'), '--out', folder]);
  // Its last line, after those about what takes longer.
  const tarball = stdout.trim().split('\n').at(-1)!;
  expect((await stat(tarball)).size).toBeLessThan(PACKED_BYTES_MAX);
  const install = ['install', '--global', '--prefix', folder, '--no-audit', '--no-fund', tarball];
  await run('npm', install, { cwd: folder, env: { ...process.env, ...env } });
  return { runyard: path.join(folder, 'bin/runyard'), env };
}

/** Tries what somebody does first: a project from a template, and whether the machine has what a start needs. */
async function tryCommands({ runyard, env: own }: Installation): Promise<void> {
  const run = promisify(execFile);
  const env = { ...process.env, ...own };
  const made = path.join(own.HOME!, 'made');
  await run(runyard, ['new', made, '--template', 'react-agent', '--language', 'js'], { env });
  // Npm leaves files of this name out of packages.
  expect(await readFile(path.join(made, '.gitignore'), 'utf8')).toContain('.env');
  const { stdout } = await run(runyard, ['doctor', '--project', example, '--port', '0'], { env });
  expect(stdout).toContain('has what it needs');
}

async function sayHello(platform: Platform): Promise<string> {
  const client = newClient({ apiUrl: platform.deploymentUrl, apiKey: platform.apiKey });
  const thread = await client.threads.create({ metadata: { owner: 'ada' } });
  const events = await collectEvents(
    client.runs.stream(thread.thread_id, 'agent', {
      input: { messages: [{ role: 'user', content: 'hello' }] },
      streamMode: ['values', 'messages-tuple'],
    }),
  );
  expect(events.some((event) => event.event === 'messages')).toBe(true);
  return thread.thread_id;
}

/** Kills the process that several services share; resolves when they are back. */
async function killServices(platform: Platform): Promise<void> {
  const processes = JSON.parse(await readFile(path.join(platform.dataDir, 'processes.json'), 'utf8')) as {
    name: string;
    pid: number;
  }[];
  const { pid } = processes.find(({ name }) => name === 'platform-services')!;
  process.kill(pid, 'SIGKILL');
  await waitFor(() => platform.output().includes('platform-services is back'), { what: 'the services being back' });
  const answer = await fetch(`${platform.url}/api/v1/organizations/current/info`, {
    headers: { 'x-api-key': platform.apiKey },
  });
  expect(await answer.json()).toMatchObject({ invites_enabled: false });
}

/** Waits until the history has so many runs of a thread. Its events came over Redis Streams. */
async function waitForHistory(platform: Platform, threadId: string, count: number): Promise<void> {
  await waitFor(async () => {
    const answer = await fetch(`${platform.url}/v2/runs/search`, {
      method: 'POST',
      headers: { 'x-api-key': platform.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ thread_ids: [threadId], statuses: ['success'] }),
    });
    return ((await answer.json()) as RunSearchPage).runs.length === count;
  });
}

it('the example agent answers, and threads, keys and settings are kept over a kill and a restart by the published package', async () => {
  const installing = installPackage();
  installing.catch(() => {}); // It is awaited below.
  const before = await startPlatform({ project: example });
  const threadId = await sayHello(before);
  const settings = `/api/v1/organizations/current/info`;
  await fetch(before.url + settings, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${before.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ invites_enabled: false }),
  });
  const client = new Client({ apiUrl: before.url, apiKey: null });
  const state = await client.threads.getState(threadId);
  await killServices(before);
  await before.stop();

  const { runyard, env } = await installing;
  await tryCommands({ runyard, env });
  const after = await startPlatform({
    project: example,
    dataDir: before.dataDir,
    command: [runyard, 'dev'],
    flags: ['--host', '0.0.0.0'],
    env,
  });
  try {
    // Other machines reach it now.
    expect((await fetch(`${after.url}/threads/${threadId}`)).status).toBe(401);
    const key = { 'x-api-key': after.apiKey };
    expect((await fetch(`${after.url}/threads/${threadId}`, { headers: key })).status).toBe(200);
    expect(after.apiKey).toBe(before.apiKey);
    expect(after.deployments.map((deployment) => deployment.id)).toEqual(
      before.deployments.map((deployment) => deployment.id),
    );
    const again = newClient({ apiUrl: after.deploymentUrl, apiKey: after.apiKey });
    expect(await again.threads.getState(threadId)).toEqual(state);
    expect((await again.threads.get(threadId)).metadata).toMatchObject({ owner: 'ada', graph_id: 'agent' });
    const info = await fetch(after.url + settings, { headers: { 'x-api-key': after.apiKey } });
    expect(await info.json()).toMatchObject({ invites_enabled: false });
    await again.runs.wait(threadId, 'agent', { input: { messages: [{ role: 'user', content: 'and again' }] } });
    await waitForHistory(after, threadId, 2);
    expect((await after.stop()).exitCode).toBe(0);
  } finally {
    await after.stop();
    await after.remove();
  }
});
