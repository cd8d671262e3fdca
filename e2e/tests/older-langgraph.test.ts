import { chmod, symlink } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectEvents, newClient } from '../harness/client.ts';
import { callControlPlane, createDeployment, type Deployment, waitUntilDeployed } from '../harness/control-plane.ts';
import { copyProject } from '../harness/official-cli.ts';

/** The folders in which the packages of older lines are installed. */
const LINES = path.resolve(import.meta.dirname, '../../hosts/javascript/fixtures/lines');
const input = { messages: [{ role: 'user', content: 'hi' }] };
const id = expect.stringMatching(/^[0-9a-f]{32}$/);

describe.each(['0.2.57', '0.4.10'])('a project with LangGraph %s', (version) => {
  let deployment: Deployment;
  let client: Client;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const project = await copyProject('older');
    remove = project.remove;
    // A platform that was started as root runs projects as users of their own.
    await chmod(path.dirname(project.folder), 0o755);
    await symlink(path.join(LINES, version, 'node_modules'), path.join(project.folder, 'node_modules'));
    deployment = await createDeployment(`langgraph ${version}`, project.folder);
    await waitUntilDeployed(deployment);
    client = newClient({ apiUrl: deployment.source_config.custom_url });
  });
  afterAll(async () => {
    if (deployment) await callControlPlane('DELETE', `/deployments/${deployment.id}`);
    await remove();
  });

  it('streams, waits for an approval, goes on with it, and shows its history', async () => {
    const { thread_id } = await client.threads.create();
    const events = await collectEvents(
      client.runs.stream(thread_id, 'agent', { input, streamMode: ['values', 'messages-tuple', 'tasks'] }),
    );
    const asked = [expect.objectContaining({ id, value: 'send it?' })];
    expect(events.filter(({ event }) => event === 'values').at(-1)?.data).toMatchObject({ __interrupt__: asked });
    expect(events.some(({ event }) => event === 'messages')).toBe(true);
    expect(events.some(({ event }) => event === 'tasks')).toBe(true);

    const thread = await client.threads.get(thread_id);
    expect([thread.status, Object.values(thread.interrupts)]).toEqual(['interrupted', [asked]]);
    const waiting = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    expect(waiting).toMatchObject({ next: ['approval'], tasks: [{ interrupts: asked, state: { next: ['ask'] } }] });

    const resume = { [(waiting.tasks[0]!.interrupts[0] as { id: string }).id]: 'yes' };
    const values = await client.runs.wait(thread_id, 'agent', { command: { resume } });
    expect(values).toMatchObject({ messages: [{}, { content: 'Hello' }, { content: 'approved: yes' }] });
    expect((await client.store.getItem(['approvals'], 'count'))?.value).toEqual({ count: 1 });
    const history = await client.threads.getHistory(thread_id, { limit: 10 });
    expect(history.map(({ next }) => next)).toEqual([[], ['count'], ['approval'], ['talk'], ['__start__']]);

    const again = { checkpoint: history[3]!.checkpoint, input: null };
    expect(await client.runs.wait(thread_id, 'agent', again as never)).toMatchObject({ __interrupt__: asked });
  });
});
