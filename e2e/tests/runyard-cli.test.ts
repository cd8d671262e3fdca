import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { newClient } from '../harness/client.ts';
import { callControlPlane } from '../harness/control-plane.ts';
import { copyProject, LINK_PACKAGES } from '../harness/official-cli.ts';
import { parseJsonLines, runyard, startRunyard } from '../harness/runyard-cli.ts';

interface Event {
  event: string;
  status?: string;
  message?: string;
  deployment_id?: string;
  revision_id?: string;
}
interface Row {
  id: string;
  status: string;
}

const greet = async (client: Client, name: string): Promise<string> => {
  const values = await client.runs.wait(null, 'greeter', { input: { name } });
  return (values as { text: string }).text;
};
const revisionsOf = async (id: string) =>
  parseJsonLines<Row>(await runyard(['deploy', 'revisions', 'list', id, '--json']));

describe('runyard deploy', () => {
  let folder: string;
  let id: string;
  let client: Client;
  const { url: platform, apiKey } = inject('platform');
  const deploy = (...args: string[]) =>
    startRunyard(['deploy', '--remote', '--no-input', ...args], folder, { RUNYARD_URL: platform });

  beforeAll(async () => {
    const copy = await copyProject('deployed');
    folder = copy.folder;
    await writeFile(path.join(folder, '.env'), `RUNYARD_API_KEY=${apiKey}\nMARK=from-the-env-file\n`);
    return async () => {
      if (id) await callControlPlane('DELETE', `/deployments/${id}`);
      await copy.remove();
    };
  });

  it('takes its name from the folder and its key from the .env file', async () => {
    const first = await deploy('--install-command', LINK_PACKAGES).ended;
    expect(first).toMatchObject({ code: 0, output: expect.stringMatching(/\| linking packages[\s\S]*DEPLOYED/) });
    const [deployment] = parseJsonLines<Row & { source_config: Record<'custom_url' | 'deployment_type', string> }>(
      await runyard(['deploy', 'list', '--name-contains', 'deployed', '--json']),
    ).filter((row) => first.output.includes(row.id));
    const { source_config } = deployment!;
    id = deployment!.id;
    expect(source_config.deployment_type).toBe('dev');
    expect(first.output).toContain(source_config.custom_url);
    client = newClient({ apiUrl: source_config.custom_url });
    expect(await greet(client, 'ada')).toBe('hello ada from-the-env-file');
    // The file with the key is neither in the archive nor among the secrets.
    const { body } = await callControlPlane<{ secrets: { name: string }[] }>('GET', `/deployments/${id}`);
    expect(body.secrets.map(({ name }) => name)).toEqual(['MARK']);
  });

  it('updates a deployment in place', async () => {
    const graph = path.join(folder, 'greeter.ts');
    const text = (await readFile(graph, 'utf8')).replace("'hello'", "'goodbye'");
    await writeFile(graph, text.replace('({ text:', "(console.log('somebody is greeted'), { text:"));
    const updated = await deploy('--install-command', LINK_PACKAGES, '--no-wait', '--json').ended;
    const result = parseJsonLines<Event>(updated).at(-1);
    expect([updated.code, result]).toMatchObject([0, { event: 'result', status: 'triggered', deployment_id: id }]);

    await expect
      .poll(async () => (await revisionsOf(id)).find((row) => row.id === result?.revision_id)?.status)
      .toBe('DEPLOYED');
    await expect.poll(() => greet(client, 'ada')).toBe('goodbye ada from-the-env-file');
  });

  it('reports why a build fails, and what serves goes on', async () => {
    const failed = await deploy('--install-command', 'echo packages are away && exit 3').ended;
    expect(failed.code).toBe(1);
    expect(failed.output).toMatch(/\| packages are away[\s\S]*Failed \(BUILD_FAILED\): .*ended with code 3/);
    expect((await revisionsOf(id)).map(({ status }) => status).slice(0, 3)).toEqual([
      'BUILD_FAILED',
      'DEPLOYED',
      'DEPLOYED',
    ]);
    const table = (await runyard(['deploy', 'revisions', 'list', id])).output;
    expect(table).toMatch(/BUILD_FAILED .*ended with code 3\.?\n.* DEPLOYED .*\n.* REPLACED /);
    const build = await runyard(['deploy', 'logs', '--deployment-id', id, '--type', 'build', '-q', 'away', '--json']);
    expect(parseJsonLines<Event>(build).map(({ message }) => message)).toContain('packages are away');
  });

  it('shows the logs of the deployment of its folder as they come', async () => {
    const following = startRunyard(['deploy', 'logs', '-f'], folder, { RUNYARD_URL: platform });
    await expect.poll(following.output).toContain('somebody is greeted');
    const before = following.output().split('somebody is greeted').length;
    await greet(client, 'grace');
    const times = () => following.output().split('somebody is greeted').length;
    await expect.poll(times).toBeGreaterThan(before);
    following.child.kill('SIGINT');
    expect((await following.ended).code).toBe(0);
  });

  it('deletes a deployment only when it is told to without a question', async () => {
    expect(await runyard(['deploy', 'delete', id])).toMatchObject({
      code: 2,
      output: expect.stringContaining('--force'),
    });
    expect(await runyard(['deploy', 'delete', id, '--force'])).toMatchObject({ code: 0 });
    const whatIsLeft = async () => (await runyard(['deploy', 'revisions', 'list', id])).code;
    await expect.poll(whatIsLeft).toBe(4);
  });
});

it('an interrupted deploy has shown its build live, ends at once with 130, and leaves the revision to the platform', async () => {
  const { folder, remove } = await copyProject('deployed');
  onTestFinished(remove);
  const args = ['--remote', '--json', '--name', 'interrupted', '--install-command', 'echo this takes long; sleep 30'];
  const deploying = startRunyard(['deploy', ...args], folder);
  await expect.poll(deploying.output).toContain('"message":"this takes long"');
  expect(deploying.child.exitCode).toBeNull();
  deploying.child.kill('SIGINT');
  const { code, output } = await deploying.ended;
  expect(code).toBe(130);
  expect(output).toContain('The platform goes on without this command.');
  const [deployment] = parseJsonLines<Row>(
    await runyard(['deploy', 'list', '--name-contains', 'interrupted', '--json']),
  );
  await runyard(['deploy', 'delete', deployment!.id, '--force']);
});
