import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { newClient } from '../../harness/client.ts';
import { callControlPlane, type Deployment } from '../../harness/control-plane.ts';
import { ImageEngine } from '../../harness/image-engine.ts';
import { copyProject, LINK_PACKAGES, type OfficialCli } from '../../harness/official-cli.ts';

async function named(name: string): Promise<Deployment & { name: string }> {
  const { body } = await callControlPlane<{ resources: (Deployment & { name: string })[] }>(
    'GET',
    `/deployments?name=${name}`,
  );
  const [deployment] = body.resources;
  if (!deployment) throw new Error(`there is no deployment ${name}`);
  return deployment;
}

const greet = async (client: Client, name: string): Promise<string> => {
  const values = await client.runs.wait(null, 'greeter', { input: { name } });
  return (values as { text: string }).text;
};

/** Milliseconds between two greetings: without a pause they would take the processor that the builds need. */
const PAUSE_MS = 100;

/** Runs one greeting after the other until it is stopped; `stop` returns what they said. */
function traffic(client: Client): { stop(): Promise<string[]> } {
  const said: string[] = [];
  let isOver = false;
  const running = (async () => {
    for (; !isOver; await pause(PAUSE_MS)) said.push(await greet(client, String(said.length)));
  })();
  running.catch(() => {}); // The caller of `stop` gets it.
  return {
    async stop() {
      isOver = true;
      await running;
      return said;
    },
  };
}

/** Defines the tests of each of the official commands; `name` is that of the deployment it creates. */
export function deploys(cli: OfficialCli, name: string): void {
  let project: Awaited<ReturnType<typeof copyProject>>;
  beforeAll(async () => {
    project = await copyProject('deployed');
    await writeFile(join(project.folder, '.env'), 'MARK=from-the-env-file\n');
  });
  afterAll(() => project.remove());

  const inProject = (...args: string[]) =>
    cli.deploy(['--remote', '--no-input', '--name', name, ...args], { cwd: project.folder });
  const change = async (file: string, from: string, to: string) => {
    const path = join(project.folder, file);
    await writeFile(path, (await readFile(path, 'utf8')).replace(from, to));
  };

  let deployment: Deployment;
  const url = () => deployment.source_config.custom_url;
  const deployed = () => newClient({ apiUrl: url() });

  it('deploys a folder, and updates it in place without losing a request', async () => {
    const first = await inProject();
    expect(first, first.output).toMatchObject({ code: 0 });
    deployment = await named(name);
    expect(first.output).toContain(url());
    const client = deployed();
    expect(await greet(client, 'ada')).toBe('hello ada from-the-env-file');

    const requests = traffic(client);
    await change('greeter.ts', "'hello'", "'goodbye'");
    const second = await inProject('--install-command', LINK_PACKAGES);
    expect(second, second.output).toMatchObject({ code: 0 });
    await expect.poll(() => greet(client, 'ada')).toBe('goodbye ada from-the-env-file');
    const said = await requests.stop();
    expect(new Set(said.map((text) => text.split(' ')[0]))).toEqual(new Set(['hello', 'goodbye']));
    expect((await named(name)).id).toBe(deployment.id);
  });

  it('reports why a build or a start fails, and the serving revision continues', async () => {
    const failing = await inProject('--install-command', 'echo packages are away && exit 3');
    expect(failing).toMatchObject({ code: 1, output: expect.stringContaining('packages are away') });
    await change('langgraph.json', '"env"', '"http": { "app": "./missing.ts:app" }, "env"');
    const notStarting = await inProject('--install-command', LINK_PACKAGES);
    expect(notStarting).toMatchObject({ code: 1, output: expect.stringMatching(/deployment failed/i) });
    expect(await greet(deployed(), 'ada')).toBe('goodbye ada from-the-env-file');
  });

  it('lists deployments and revisions, shows a log, and deletes', async () => {
    const { id } = deployment;
    expect(await cli.deploy(['list', '--name-contains', name])).toMatchObject({
      code: 0,
      output: expect.stringContaining(url()),
    });
    const revisions = await cli.deploy(['revisions', 'list', id]);
    for (const status of ['DEPLOY_FAILED', 'BUILD_FAILED', 'DEPLOYED']) expect(revisions.output).toContain(status);
    const logs = await cli.deploy(['logs', '--deployment-id', id, '--type', 'build', '--limit', '50']);
    expect(logs).toMatchObject({ code: 0, output: expect.stringContaining('linking packages') });

    expect(await cli.deploy(['delete', id, '--force'])).toMatchObject({ code: 0 });
    const status = async () => (await callControlPlane('GET', `/deployments/${id}`)).status;
    await expect.poll(status).toBe(404);
  });

  it('pushes an image into the registry of the platform, and has it deployed by its digest', async () => {
    const engine = await ImageEngine.open();
    try {
      const local = [
        '--no-remote',
        '--no-wait',
        '--no-input',
        '--name',
        `${name}-here`,
        '--image-name',
        'shop',
        '-t',
        'v7',
      ];
      const ended = await cli.deploy(local, { cwd: project.folder, path: engine.path });
      expect(ended).toMatchObject({ code: 0 });
      const { id, latest_revision_id } = await named(`${name}-here`);
      const image = `${new URL(inject('platform').url).host}/registry/${id}/shop`;
      expect(engine.calls).toContain(`push ${image}:v7`);
      const { body: revision } = await callControlPlane<{
        source: string;
        source_revision_config: { image_uri: string };
      }>('GET', `/deployments/${id}/revisions/${latest_revision_id}`);
      expect(revision.source).toBe('internal_docker');
      expect(revision.source_revision_config.image_uri).toMatch(new RegExp(`^${image}@sha256:[0-9a-f]{64}$`));
      await callControlPlane('DELETE', `/deployments/${id}`);
    } finally {
      await engine.close();
    }
  });
}
