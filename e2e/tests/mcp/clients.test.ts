import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { type Answer, CLIENTS, type McpClient, type Progress, type Question } from './connect.ts';

const { deploymentUrl, apiKey } = inject('platform');

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

describe.each(CLIENTS)('the official client of MCP %s, through the gateway', (_name, revision, connectTo) => {
  async function connect(answer?: (question: Question) => Answer): Promise<McpClient> {
    const client = await connectTo(deploymentUrl, { 'x-api-key': apiKey }, answer);
    open.push(client);
    return client;
  }

  it('is shown the progress of a call', async () => {
    const client = await connect();
    expect(client.version()).toBe(revision);
    const seen: Progress[] = [];
    const input = { name: randomUUID(), steps: 3, stepMs: 20 };
    const { structuredContent } = await client.callTool('slow', input, { onprogress: (each) => seen.push(each) });
    expect(structuredContent).toMatchObject({ steps: 0 });
    const values = seen.map(({ progress }) => progress);
    expect(values.length).toBeGreaterThan(1);
    expect(values).toEqual([...values].sort((a, b) => a - b));
  });

  it('answers the question of a tool within one call', async () => {
    const asked: Question[] = [];
    const client = await connect((question) => {
      asked.push(question);
      const [field] = Object.keys(question.requestedSchema.properties);
      return { action: 'accept', content: { [field!]: 'yes' } };
    });
    const { structuredContent } = await client.callTool('approval', { request: 'go' });
    expect(structuredContent).toMatchObject({ log: ['prepared go', 'heard yes', 'did go'] });
    expect(asked).toHaveLength(1);
    expect(asked[0]!.message).toContain('May I go?');
  });

  it('that cannot ask its user is told of the question', async () => {
    const client = await connect();
    const called = client.callTool('approval', { request: 'go' });
    if (revision === '2026-07-28') await expect(called).rejects.toMatchObject({ code: -32021 });
    else {
      const value = { question: 'May I go?' };
      expect((await called).structuredContent).toMatchObject({ __interrupt__: [{ value }], log: ['prepared go'] });
    }
  });

  it('gets the error of a graph without its secrets as the outcome of the tool, and refusals as errors', async () => {
    const client = await connect();
    const { isError, content } = await client.callTool('boom', {});
    expect(isError).toBe(true);
    expect(content[0]!.text).toContain('KettleError');
    expect(JSON.stringify(content)).not.toContain('hunter2');
    await expect(client.callTool('no_such_tool', {})).rejects.toMatchObject({ code: -32602 });
  });
});

it('a stranger without a key is refused before anything of the protocol', async () => {
  for (const method of ['POST', 'GET', 'DELETE']) {
    const response = await fetch(`${deploymentUrl}/mcp`, { method, ...(method === 'POST' && { body: '{}' }) });
    expect([method, response.status]).toEqual([method, 401]);
  }
});
