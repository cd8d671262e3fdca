import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpAgent } from 'ag-ui-client-0';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { type Platform, startPlatform } from '../harness/platform.ts';
import { installPackages } from './install-packages.ts';

/** The part of CopilotKit that is used: its packages are not there when types are checked. */
interface PageCore {
  runtimeConnectionStatus: string;
  subscribe(subscriber: {
    onError?(failure: { code: string; error: Error }): void;
    onRuntimeConnectionStatusChanged?(change: { status: string }): void;
  }): void;
  getAgent(id: string): HttpAgent;
  runAgent(options: { agent: HttpAgent; runId?: string; resume?: object[] }): Promise<unknown>;
  connectAgent(options: { agent: HttpAgent }): Promise<unknown>;
}
interface CopilotKit {
  CopilotRuntime: new (options: { agents: Record<string, HttpAgent> }) => object;
  createCopilotNodeListener: (options: { runtime: object; basePath: string }) => RequestListener;
  CopilotKitCore: new (options: object) => PageCore;
}

let platform: Platform;
let server: Server;
let kit: CopilotKit;
let runtimeUrl: string;
beforeAll(async () => {
  process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
  // The part for pages connects only where it finds one.
  vi.stubGlobal('window', globalThis);
  const load = await installPackages();
  const names = ['@copilotkit/runtime/v2', '@copilotkit/runtime/v2/node', '@copilotkit/core'];
  kit = Object.assign({}, ...(await Promise.all(names.map(load))));
  platform = await startPlatform();
  const agentOf = (assistant: string) =>
    new HttpAgent({ url: `${platform.deploymentUrl}/agui/${assistant}`, headers: { 'x-api-key': platform.apiKey } });
  const runtime = new kit.CopilotRuntime({ agents: { page: agentOf('page'), boom: agentOf('boom') } });
  const basePath = '/api/copilotkit';
  server = createServer(kit.createCopilotNodeListener({ runtime, basePath })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  runtimeUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`;
});
afterAll(async () => {
  vi.unstubAllGlobals();
  server?.close();
  await platform?.stop();
  await platform?.remove();
});

/** Opens a page, as the hooks of CopilotKit do, on a thread. */
async function openPage({ assistant = 'page', threadId = `${randomUUID()}`, tools = [] as object[] } = {}) {
  const core = new kit.CopilotKitCore({ runtimeUrl, runtimeTransport: 'rest', tools });
  const failures: { code: string; message: string }[] = [];
  core.subscribe({ onError: ({ code, error }) => void failures.push({ code, message: error.message }) });
  await new Promise<void>((resolve) => {
    const look = (status: string) => status === 'connected' && resolve();
    core.subscribe({ onRuntimeConnectionStatusChanged: ({ status }) => void look(status) });
    look(core.runtimeConnectionStatus);
  });
  const agent = core.getAgent(assistant);
  agent.threadId = threadId;
  return {
    core,
    agent,
    failures,
    contents: () => agent.messages.map(({ content }) => content),
    async say(content: string): Promise<void> {
      agent.addMessage({ id: randomUUID(), role: 'user', content });
      await core.runAgent({ agent });
    },
  };
}

it('a page of CopilotKit talks with an agent, and shows its state', async () => {
  const { agent, contents, say, failures } = await openPage();
  await say('good day');
  await say('bye');
  expect(contents()).toEqual(['good day', 'You said good day.', 'bye', 'You said bye.']);
  expect(agent.state).toEqual({ notes: { heard: 2, texts: ['You said good day.', 'You said bye.'] } });
  expect(failures).toEqual([]);

  const again = await openPage({ threadId: agent.threadId });
  await again.core.connectAgent({ agent: again.agent });
  expect([again.contents(), again.agent.state]).toEqual([contents(), agent.state]);
});

it('a tool of the page is executed there, and the agent goes on with its result', async () => {
  const called: unknown[] = [];
  const pickColour = {
    name: 'pick_colour',
    description: 'The user picks a colour.',
    parameters: z.object({ among: z.array(z.string()) }),
    handler: async (args: unknown) => {
      called.push(args);
      return 'blue';
    },
  };
  const { agent, contents, say, failures } = await openPage({ tools: [pickColour] });
  await say('pick');
  expect(called).toEqual([{ among: ['red', 'blue'] }]);
  expect(contents()).toEqual(['pick', '', 'blue', 'You said blue.']);
  expect(agent.state).toMatchObject({ colour: 'blue', notes: { heard: 2 } });
  expect(failures).toEqual([]);
});

it('a page answers an interrupt under the id of the run that asked, as its hook does', async () => {
  const { core, agent, say, failures } = await openPage();
  const runIds: string[] = [];
  agent.subscribe({ onRunFinishedEvent: ({ input }) => void runIds.push(input.runId) });
  for (const payload of ['green', 'red']) {
    await say('ask');
    expect(agent.pendingInterrupts).toMatchObject([{ message: expect.stringContaining('Keep') }]);
    const interruptId = agent.pendingInterrupts[0]!.id;
    await core.runAgent({ agent, runId: runIds.at(-1)!, resume: [{ interruptId, status: 'resolved', payload }] });
    expect(agent.pendingInterrupts).toEqual([]);
    expect(agent.state).toMatchObject({ colour: payload });
  }
  expect(failures).toEqual([]);
});

it('a page learns why a run failed', async () => {
  const { core, agent, failures } = await openPage({ assistant: 'boom' });
  agent.setState({ heat: 1 });
  await core.runAgent({ agent });
  expect(failures).toEqual([{ code: 'agent_run_error_event', message: expect.stringContaining('cannot reach') }]);
});
