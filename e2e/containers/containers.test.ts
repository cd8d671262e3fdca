import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newClient } from '../harness/client.ts';
import { copyProject } from '../harness/official-cli.ts';
import { type Platform, startPlatform } from '../harness/platform.ts';
import { parseJsonLines, startRunyard } from '../harness/runyard-cli.ts';
import { buildBaseImage, listContainers, listLeftovers, runDocker } from './engine.ts';

/** A graph that calls the server it runs in, which is another container. */
const ASKER = `
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Client } from '@langchain/langgraph-sdk';
const State = Annotation.Root({ assistants: Annotation });
export const graph = new StateGraph(State)
  .addNode('ask', async () => ({ assistants: (await new Client({ apiKey: null }).assistants.search()).length }))
  .addEdge(START, 'ask').addEdge('ask', END).compile();
`;

/** A project in Python with a package of its own, which says its greeting. */
const PYTHON = {
  'langgraph.json': JSON.stringify({
    dependencies: ['.'],
    graphs: { agent: './agent.py:graph' },
    // uv reads no certificates of the machine by itself, and registries may have one of their own.
    dockerfile_lines: ['ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt'],
  }),
  'requirements.txt': 'text-unidecode\n',
  'agent.py': `
from langgraph.graph import START, StateGraph
from text_unidecode import unidecode
from typing_extensions import TypedDict

class State(TypedDict):
    text: str

graph = StateGraph(State).add_node("say", lambda state: {"text": "hello " + unidecode(state["text"])})
graph = graph.add_edge(START, "say").compile()
`,
};
const PYTHON_IMAGE = 'runyard-test/python:1';

let before: Awaited<ReturnType<typeof listLeftovers>>;
let base: Awaited<ReturnType<typeof buildBaseImage>>;
let project: Awaited<ReturnType<typeof copyProject>>;
let platform: Platform;
let deployment: { id: string; source: string; source_config: { custom_url: string } };

beforeAll(async () => {
  before = await listLeftovers();
  project = await copyProject('deployed');
  await writeFile(path.join(project.folder, '.env'), 'MARK=from-the-env-file\n');
  await writeFile(path.join(project.folder, 'asker.ts'), ASKER);
  const config = {
    node_version: '20',
    env: '.env',
    graphs: { greeter: './greeter.ts:graph', asker: './asker.ts:graph' },
  };
  await writeFile(path.join(project.folder, 'langgraph.json'), JSON.stringify(config));
  // Nothing configures how containers reach the platform.
  [base, platform] = await Promise.all([buildBaseImage(), startPlatform()]);
});
afterAll(async () => {
  await platform?.stop();
  await platform?.remove();
  await project?.remove();
  // This cleans up where a test failed before the last one, which removes it.
  await base?.remove().catch(() => undefined);
});

function runyard(args: string[], of: Platform = platform, folder = project.folder) {
  // The command reaches the engine as the person at this machine does.
  const { HOME, DOCKER_HOST } = process.env;
  const variables = {
    RUNYARD_URL: of.url,
    RUNYARD_API_KEY: of.apiKey,
    ...(HOME && { HOME }),
    ...(DOCKER_HOST && { DOCKER_HOST }),
  };
  return startRunyard(args, folder, variables).ended;
}
/** Returns the output of a command that has to succeed. */
async function succeed(command: ReturnType<typeof runyard>): Promise<string> {
  const { code, output } = await command;
  if (code !== 0) throw new Error(`it ended with ${code}: ${output}`);
  return output;
}
const deploy = () => runyard(['deploy', '--no-remote', '--no-input', '--name', 'boxed', '--base-image', base.name]);
const client = (): Client => newClient({ apiUrl: deployment.source_config.custom_url, apiKey: platform.apiKey });

async function greet(): Promise<string> {
  const values = await client().runs.wait(null, 'greeter', { input: { name: 'ada' } });
  return (values as { text: string }).text;
}

/** Returns the only container of a part, once it is none of `others`. */
async function containerOf(part: string, others: string[] = []): Promise<string> {
  const found: string[] = [];
  await expect
    .poll(
      async () =>
        found.splice(0, found.length, ...(await listContainers(deployment.id, part))) &&
        found.filter((id) => !others.includes(id)),
      {
        timeout: 60_000,
      },
    )
    .toHaveLength(1);
  return found.find((id) => !others.includes(id)) as string;
}

it('a project that was built into an image on this machine runs in containers of the platform that npm start began', async () => {
  await succeed(deploy());
  const listed = await runyard(['deploy', 'list', '--name-contains', 'boxed', '--json']);
  deployment = parseJsonLines<typeof deployment>(listed)[0]!;
  expect(deployment.source).toBe('internal_docker');
  await Promise.all(['agent-api', 'run-worker'].map((part) => containerOf(part)));
  expect(await greet()).toBe('hello ada from-the-env-file');
});

it('its graphs reach their own server, and its events reach the bus', async () => {
  expect(await client().runs.wait(null, 'asker', { input: {} })).toEqual({ assistants: 2 });
  const metrics = async () => {
    const headers = { 'x-api-key': platform.apiKey };
    return (await fetch(`${deployment.source_config.custom_url}/metrics`, { headers })).text();
  };
  await expect.poll(metrics).toMatch(/outbox_published_total(\{[^}]*\})? [1-9]/);
});

it('it is updated in place, and the containers of the earlier revision end', async () => {
  const replaced = await Promise.all(['agent-api', 'run-worker'].map((part) => containerOf(part)));
  const graph = path.join(project.folder, 'greeter.ts');
  await writeFile(graph, (await readFile(graph, 'utf8')).replace("'hello'", "'goodbye'"));
  await succeed(deploy());
  await expect.poll(greet).toBe('goodbye ada from-the-env-file');
  const running = async () => (await runDocker('ps', '--no-trunc', '--format', '{{.ID}}')).split('\n');
  await expect.poll(running).not.toEqual(expect.arrayContaining([expect.toBeOneOf(replaced)]));
});

it.each(['agent-api', 'run-worker'])(
  'a container of %s that is killed is replaced, and runs continue',
  async (part) => {
    const killed = await containerOf(part);
    await runDocker('kill', killed);
    await containerOf(part, [killed]);
    await expect.poll(() => greet().catch(String)).toBe('goodbye ada from-the-env-file');
  },
);

it('a Python project is installed in its image, again only when it names other packages, and runs from it', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'runyard-python-'));
  try {
    const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
    for (const [name, text] of Object.entries(PYTHON)) await write(name, text);
    const build = () => runyard(['build', '-t', PYTHON_IMAGE, '--base-image', base.name], platform, folder);
    expect(await succeed(build())).toContain('+ text-unidecode==');
    await write('agent.py', PYTHON['agent.py'].replace('hello', 'goodbye'));
    expect(await succeed(build())).not.toContain('+ text-unidecode==');
    await succeed(runyard(['deploy', '--image', PYTHON_IMAGE, '--no-input', '--name', 'snake'], platform, folder));
    const listed = await runyard(['deploy', 'list', '--name-contains', 'snake', '--json']);
    const [snake] = parseJsonLines<typeof deployment>(listed);
    const agent = newClient({ apiUrl: snake!.source_config.custom_url, apiKey: platform.apiKey });
    expect(await agent.runs.wait(null, 'agent', { input: { text: 'Ådå' } })).toEqual({ text: 'goodbye Ada' });
    await succeed(runyard(['deploy', 'delete', snake!.id, '--force']));
  } finally {
    await runDocker('image', 'rm', PYTHON_IMAGE);
    await rm(folder, { recursive: true });
  }
});

it('a deployment whose containers cannot reach its database fails within a minute with that sentence', async () => {
  const cutOff = await startPlatform({ env: { CONTAINER_NETWORK: 'none' } });
  try {
    const image = `${new URL(platform.url).host}/registry/${deployment.id}/boxed:latest`;
    const ended = await runyard(['deploy', '--image', image, '--no-input', '--name', 'cut-off'], cutOff);
    expect(ended).toMatchObject({
      code: 1,
      output: expect.stringMatching(/containers cannot reach the database, which this machine can/),
    });
    // The time counts from the creation of the revision: before that the image is pushed.
    expect(Number(/DEPLOY_FAILED \((\d+)s\)/.exec(ended.output)?.[1])).toBeLessThan(60);
    const { resources } = (await (
      await fetch(`${cutOff.url}/v2/deployments?name=cut-off`, { headers: { 'x-api-key': cutOff.apiKey } })
    ).json()) as { resources: { id: string }[] };
    await runyard(['deploy', 'delete', resources[0]!.id, '--force'], cutOff);
  } finally {
    await cutOff.stop();
    await cutOff.remove();
  }
});

it('once it is deleted and the platform stopped, no container, image, network or process is left', async () => {
  await succeed(runyard(['deploy', 'delete', deployment.id, '--force']));
  expect(await runDocker('ps', '--all', '--quiet', `--filter=label=io.runyard.deployment=${deployment.id}`)).toBe('');
  expect(await platform.stop()).toMatchObject({ exitCode: 0 });
  await base.remove();
  expect(await listLeftovers()).toEqual(before);
  const processes = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
  expect(processes.filter((line) => line.includes(platform.dataDir))).toEqual([]);
});
