import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { newClient } from '../../harness/client.ts';
import { callControlPlane, type Deployment } from '../../harness/control-plane.ts';
import { copyProject, pythonCli } from '../../harness/official-cli.ts';
import { compare } from '../../oracle/compare.ts';
import { INTENDED } from '../../oracle/differences.ts';
import { IntendedDifferences } from '../../oracle/intended-differences.ts';
import { readRecorded } from '../../oracle/recorded-answers.ts';
import { RecordedClient } from '../../oracle/recorded-client.ts';
import { RECORDED, SCENARIOS } from '../../oracle/scenarios.ts';

const NAME = 'python-project';

let project: Awaited<ReturnType<typeof copyProject>>;
let deployment: Deployment;
let url: string;
let client: Client;
beforeAll(async () => {
  project = await copyProject('python');
  const deployed = await deploy();
  expect(deployed, deployed.output).toMatchObject({ code: 0 });
  const { body } = await callControlPlane<{ resources: [Deployment] }>('GET', `/deployments?name=${NAME}`);
  [deployment] = body.resources;
  url = deployment.source_config.custom_url as string;
  client = newClient({ apiUrl: url });
});
afterAll(async () => {
  await project.remove();
  if (deployment) await callControlPlane('DELETE', `/deployments/${deployment.id}`);
});

const deploy = () => pythonCli.deploy(['--remote', '--no-input', '--name', NAME], { cwd: project.folder });

describe('a Python project, deployed by the official command,', () => {
  it('streams, asks and goes on', async () => {
    const { thread_id } = await client.threads.create();
    const input = { messages: [{ role: 'user', content: 'hi' }] };
    let text = '';
    for await (const { event, data } of client.runs.stream(thread_id, 'agent', {
      input,
      streamMode: 'messages-tuple',
    })) {
      if (event === 'messages') text += (data as unknown as [{ content: string }])[0].content;
    }
    expect(text).toBe('Dear Ada');
    expect((await client.threads.getState(thread_id)).next).toEqual(['send']);
    const answer = { messages: [{}, {}, { content: 'sent: yes' }] };
    expect(await client.runs.wait(thread_id, 'agent', { command: { resume: 'yes' } })).toMatchObject(answer);
  });

  // `npm run test:oracle` asks the public server itself, and all that it answers.
  it.each(SCENARIOS.filter(({ name, project }) => RECORDED.includes(name) && project === undefined))(
    'answers as the public server did, but for intended differences: $name',
    async (scenario) => {
      const recorded = new RecordedClient({ url, headers: { 'x-api-key': inject('platform').apiKey } });
      await scenario.run(recorded);
      const differences = compare(recorded.answers, await readRecorded(scenario.name));
      expect(new IntendedDifferences(INTENDED).without(differences)).toEqual([]);
    },
  );

  it('goes on where the next build fails, which the command tells', async () => {
    const file = join(project.folder, 'langgraph.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"fastapi"', '"no-such-package-of-runyard"'));
    const failed = await deploy();
    expect(failed).toMatchObject({ code: 1, output: expect.stringContaining('was not found in the package registry') });
    const { thread_id } = await client.threads.create();
    expect(await client.runs.wait(thread_id, 'steps', { input: { log: [] } })).toMatchObject({
      log: expect.any(Array),
    });
  });
});
