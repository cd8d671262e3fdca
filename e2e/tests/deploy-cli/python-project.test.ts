import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newClient } from '../../harness/client.ts';
import { callControlPlane, type Deployment } from '../../harness/control-plane.ts';
import { copyProject, pythonCli } from '../../harness/official-cli.ts';

const NAME = 'python-project';

let project: Awaited<ReturnType<typeof copyProject>>;
beforeAll(async () => {
  project = await copyProject('python');
});
afterAll(() => project.remove());

const deploy = () => pythonCli.deploy(['--remote', '--no-input', '--name', NAME], { cwd: project.folder });

it('the official command deploys a Python project, whose runs stream, ask and go on, and tells of a failed build', async () => {
  const deployed = await deploy();
  expect(deployed, deployed.output).toMatchObject({ code: 0 });
  const { body } = await callControlPlane<{ resources: Deployment[] }>('GET', `/deployments?name=${NAME}`);
  const [deployment] = body.resources;
  const client = newClient({ apiUrl: deployment!.source_config.custom_url });

  const { thread_id } = await client.threads.create();
  const input = { messages: [{ role: 'user', content: 'hi' }] };
  let text = '';
  for await (const { event, data } of client.runs.stream(thread_id, 'agent', { input, streamMode: 'messages-tuple' })) {
    if (event === 'messages') text += (data as unknown as [{ content: string }])[0].content;
  }
  expect(text).toBe('Dear Ada');
  expect((await client.threads.getState(thread_id)).next).toEqual(['send']);
  const answer = { messages: [{}, {}, { content: 'sent: yes' }] };
  expect(await client.runs.wait(thread_id, 'agent', { command: { resume: 'yes' } })).toMatchObject(answer);

  const file = join(project.folder, 'langgraph.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace('"fastapi"', '"no-such-package-of-runyard"'));
  const failed = await deploy();
  expect(failed).toMatchObject({ code: 1, output: expect.stringContaining('was not found in the package registry') });
  expect((await client.threads.getState(thread_id)).next).toEqual([]);
  await callControlPlane('DELETE', `/deployments/${deployment!.id}`);
});
