import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { callControlPlane, type Deployment } from '../harness/control-plane.ts';

const { dataDir, output, url, apiKey } = inject('platform');
/** The start prints whose rights the code of projects has. */
const hasUsers = /^ {2}projects +run as users of their own/m.test(output);

interface Outcome {
  /** Statuses by request; an error's code for what did not answer. */
  answers: Record<string, number | string>;
  metadata: number | string;
  /** Codes of the errors of reading files with passwords. */
  files: string[];
}

const REQUESTS = [
  'GET /internal/routes',
  'POST /internal/images/remove',
  'POST /internal/project-images/make',
  'POST /internal/keys/verify',
  'GET /v2/deployments',
  'GET /runs/search',
];

/** An install script of strangers: it asks whatever the platform listens at, and the metadata address. */
const PROBE = `
import { readFile } from 'node:fs/promises';
const { ports, requests, files } = JSON.parse(await readFile('target.json', 'utf8'));
const ask = (url, method) =>
  fetch(url, { method, signal: AbortSignal.timeout(3000), ...(method === 'POST' && { body: '{}', headers: { 'content-type': 'application/json' } }) })
    .then((answer) => answer.status, (error) => error.cause?.code ?? error.name);
const answers = {};
for (const port of ports)
  for (const request of requests) {
    const [method, path] = request.split(' ');
    answers[port + ' ' + request] = await ask('http://127.0.0.1:' + port + path, method);
  }
const metadata = await ask('http://169.254.169.254/latest/meta-data/', 'GET');
const read = await Promise.all(files.map((file) => readFile(file).then(() => 'read', (error) => error.code)));
console.log('OUTCOME ' + JSON.stringify({ answers, metadata, files: read }));
process.exit(1);
`;

describe.runIf(hasUsers)('a build that looks for what else runs on the machine', () => {
  let outcome: Outcome;
  let deployment: Deployment;

  beforeAll(async () => {
    ({ body: deployment } = await callControlPlane<Deployment>('POST', '/deployments', {
      name: 'hostile-build',
      source: 'internal_source',
      source_config: { install_command: 'node probe.mjs' },
      source_revision_config: {},
    }));
    const upload = await callControlPlane<{ upload_url: string; object_path: string }>(
      'POST',
      `/deployments/${deployment.id}/upload-url`,
    );
    await fetch(upload.body.upload_url, {
      method: 'PUT',
      headers: { 'content-type': 'application/gzip' },
      body: await archiveOf({
        'langgraph.json': JSON.stringify({ graphs: { agent: './agent.mjs:graph' } }),
        'agent.mjs': '',
        'probe.mjs': PROBE,
        'target.json': JSON.stringify({ ports: await findPorts(), requests: REQUESTS, files: passwordFiles() }),
      }),
    });
    const { body } = await callControlPlane<Deployment>('PATCH', `/deployments/${deployment.id}`, {
      source_revision_config: { source_tarball_path: upload.body.object_path, langgraph_config_path: 'langgraph.json' },
    });
    outcome = await waitFor(() => findOutcome(deployment.id, body.latest_revision_id), {
      what: 'the end of the build',
    });
  });
  afterAll(async () => {
    if (deployment) await callControlPlane('DELETE', `/deployments/${deployment.id}`);
  });

  it('is answered by no operation of a service of the platform', () => {
    expect(Object.keys(outcome.answers).length).toBeGreaterThanOrEqual(5 * REQUESTS.length);
    const answered = Object.entries(outcome.answers).filter(([, status]) => ![401, 403, 404].includes(Number(status)));
    expect(answered).toEqual([]);
  });

  it('is answered by no metadata service', () => {
    expect(outcome.metadata).not.toBe(200);
  });

  it('reads no password of a server', () => {
    expect(new Set(outcome.files)).toEqual(new Set(['EACCES']));
  });
});

/** Returns the ports of 127.0.0.1 at which services of the platform listen, as their logs say. */
async function findPorts(): Promise<number[]> {
  const folder = path.join(dataDir, 'logs');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log') && !name.startsWith('builder'));
  const logs = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  const ports = logs.flatMap((log) => [...log.matchAll(/listening.*http:\/\/127\.0\.0\.1:(\d+)/g)]);
  return [...new Set(ports.map(([, port]) => Number(port)))];
}

function passwordFiles(): string[] {
  const names = ['api-key', 'redis.conf', 'redis.builds-password', 'postgres.password', 'secrets/internal-token'];
  return names.map((name) => path.join(dataDir, name));
}

/** Returns what the probe has printed, once the build has ended. */
async function findOutcome(id: string, revisionId: string): Promise<Outcome | null> {
  const answer = await fetch(`${url}/v1/projects/${id}/revisions/${revisionId}/build_logs`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: '{}',
  });
  const { logs } = (await answer.json()) as { logs: { message: string }[] };
  const line = logs.find(({ message }) => message.startsWith('OUTCOME '))?.message;
  return line === undefined ? null : (JSON.parse(line.slice('OUTCOME '.length)) as Outcome);
}

async function archiveOf(files: Record<string, string>): Promise<Buffer<ArrayBuffer>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-hostile-build-'));
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
    await promisify(execFile)('tar', ['--create', '--gzip', '--file', 'a.tgz', ...Object.keys(files)], { cwd: folder });
    return Buffer.from(await readFile(path.join(folder, 'a.tgz')));
  } finally {
    await rm(folder, { recursive: true });
  }
}
