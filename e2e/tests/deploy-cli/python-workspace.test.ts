import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@langchain/langgraph-sdk';
import { waitFor } from '@runyard/test-kit';
import { preparePython } from '@runyard/test-kit/python';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { collectEvents } from '../../harness/client.ts';
import { callControlPlane, type Deployment } from '../../harness/control-plane.ts';
import { copyProject, pythonCli } from '../../harness/official-cli.ts';
import { CLIENT_REQUIREMENTS, runPythonTests } from '../../harness/python.ts';
import { compare } from '../../oracle/compare.ts';
import { INTENDED } from '../../oracle/differences.ts';
import { IntendedDifferences } from '../../oracle/intended-differences.ts';
import { readRecorded } from '../../oracle/recorded-answers.ts';
import { RecordedClient } from '../../oracle/recorded-client.ts';
import { RECORDED, SCENARIOS } from '../../oracle/scenarios.ts';

const NAME = 'python-workspace';
const { apiKey } = inject('platform');

let project: Awaited<ReturnType<typeof copyProject>>;
let deployment: Deployment;
let url: string;
let ada: Client;
beforeAll(async () => {
  project = await copyProject(NAME);
  // The lock file names the registry of this machine, so it is made here.
  const uv = join(dirname(await preparePython(CLIENT_REQUIREMENTS)), 'uv');
  await promisify(execFile)(uv, ['lock', '--quiet'], { cwd: project.folder });
  const deployed = await pythonCli.deploy(['--remote', '--no-input', '--name', NAME], { cwd: project.folder });
  expect(deployed, deployed.output).toMatchObject({ code: 0 });
  const { body } = await callControlPlane<{ resources: [Deployment] }>('GET', `/deployments?name=${NAME}`);
  [deployment] = body.resources;
  url = deployment.source_config.custom_url;
  const defaultHeaders = { authorization: 'Bearer ada-token' };
  ada = new Client({ apiUrl: url, apiKey: null, defaultHeaders, callerOptions: { maxRetries: 0 } });
  const isLetIn = () => ada.threads.search().then(Boolean, () => false);
  await waitFor(isLetIn, { what: 'the gateway to let users of the project in' });
});
afterAll(async () => {
  await project.remove();
  if (deployment) await callControlPlane('DELETE', `/deployments/${deployment.id}`);
});

const said = (content: string) => ({ messages: [{ role: 'user', content }] });

/** Reads what models say in a run, by the namespace of the graph they are in. */
async function listen(graph: string, text: string): Promise<Record<string, string>> {
  const { thread_id } = await ada.threads.create();
  const options = { input: said(text), streamMode: ['messages-tuple' as const], streamSubgraphs: true };
  const heard: Record<string, string> = {};
  for (const { event, data } of await collectEvents(ada.runs.stream(thread_id, graph, options))) {
    const [name, ...namespace] = event.split('|');
    if (name === 'error') throw new Error(JSON.stringify(data));
    if (name !== 'messages') continue;
    const [message] = data as [{ type: string; content: string }];
    const place = namespace.map((each) => each.replace(/:.*/, '')).join('|');
    if (message.type === 'AIMessageChunk') heard[place] = (heard[place] ?? '') + message.content;
  }
  return heard;
}

describe('a workspace of uv, deployed by the official command with its lock file,', () => {
  it.each([
    ['retrieval', 'How is tea made?', { '': 'According to tea.md ' }],
    ['supervisor', 'add', { mathematician: 'The sum is 42. ', supervisor: 'The mathematician is done. ' }],
    ['swarm', 'hello', { host: 'Welcome! ' }],
    ['research', 'rain', { '': 'The report is written. ', tools: 'Found all about rain ' }],
  ])('streams the words of each model, with the agent that it is in: %s', async (graph, text, heard) => {
    expect(await listen(graph, text)).toEqual(heard);
  });

  // `npm run test:oracle` asks the public server itself.
  it.each(SCENARIOS.filter(({ name, project: its }) => RECORDED.includes(name) && its === NAME))(
    'answers as the public server did, but for intended differences: $name',
    async (scenario) => {
      const recorded = new RecordedClient({ url, headers: { authorization: 'Bearer ada-token' } });
      await scenario.run(recorded);
      const differences = compare(recorded.answers, await readRecorded(scenario.name));
      expect(new IntendedDifferences(INTENDED).without(differences)).toEqual([]);
    },
  );

  it('asks a person in a stream, and goes on by a command', async () => {
    const { thread_id } = await ada.threads.create();
    const first = await collectEvents(
      ada.runs.stream(thread_id, 'react', { input: said('6 * 7'), streamMode: 'updates' }),
    );
    expect(first.at(-1)?.data).toMatchObject({
      __interrupt__: [{ value: { review_configs: [{ action_name: 'send_mail' }] } }],
    });
    const command = { resume: { decisions: [{ type: 'reject', message: 'No mail.' }] } };
    const second = await collectEvents(ada.runs.stream(thread_id, 'react', { command, streamMode: 'values' }));
    expect(JSON.stringify(second.at(-1)?.data)).toContain(
      'User rejected the tool call for `send_mail` with reason: No mail.',
    );
  });

  it('describes its graphs: their schemas, drawings and the agents below them', async () => {
    const assistants = await ada.assistants.search({ limit: 20 });
    const graphs = ['essay', 'memory', 'react', 'research', 'retrieval', 'supervisor', 'swarm'];
    expect(assistants.map(({ graph_id }) => graph_id).sort()).toEqual(graphs);
    const of = (graph: string) => assistants.find(({ graph_id }) => graph_id === graph)!;
    expect(of('essay').description).toBe('Writes, and asks whether it is good.');
    expect(await ada.assistants.getSchemas(of('memory').assistant_id)).toMatchObject({
      context_schema: { properties: { found_max: { default: 1, type: 'integer' } } },
    });
    const { nodes } = await ada.assistants.getGraph(of('supervisor').assistant_id);
    expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(['supervisor', 'mathematician']));
    expect(Object.keys(await ada.assistants.getSubgraphs(of('swarm').assistant_id))).toEqual(['host', 'clerk']);
  });

  it('has a route of its own that asks its server as the user who calls', async () => {
    await ada.store.putItem(['ada', 'memories'], 'mine', { text: 'sun' });
    for (const [user, memories] of [
      ['Ada', 1],
      ['Bob', 0],
    ] as const) {
      const headers = { authorization: `Bearer ${user.toLowerCase()}-token` };
      const response = await fetch(`${url}/memories/summary`, { headers });
      expect([response.status, await response.json()]).toEqual([200, { user, memories }]);
    }
    expect((await fetch(`${url}/memories/summary`)).status).toBe(401);
  });
});

it('a workspace of uv is driven by the official Python client, too', async () => {
  const tests = await runPythonTests({ url, apiKey }, {}, 'workspace');
  expect(tests.filter(({ passed }) => !passed).map(({ name, failure }) => `${name}\n${failure}`)).toEqual([]);
  expect(tests.length).toBeGreaterThan(7);
});
