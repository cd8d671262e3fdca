import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { describeGraphs } from './describe-graphs.ts';
import { PlatformClient } from './platform-client.ts';

const never = new Promise<void>(() => {});
let close: (() => unknown) | undefined;
afterEach(() => close?.());

async function servePlatform(listener: RequestListener): Promise<PlatformClient> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  await once(server, 'listening');
  return new PlatformClient(`http://127.0.0.1:${(server.address() as { port: number }).port}`, {});
}

it('a graph that a project keeps to itself, or is slow to make, delays nobody and is named without more', async () => {
  const agent = { graph_id: 'my agent', input_keys: ['messages'], tools: ['search'] };
  const client = await servePlatform((req, res) => {
    if (req.url === '/deployments/d/assistants/my%20agent/summary') res.end(JSON.stringify(agent));
    if (req.url === '/deployments/d/assistants/secret/summary') res.writeHead(401).end('{}');
    // Nothing ever answers for `slow`.
  });
  expect(await describeGraphs(client, 'd', ['my agent', 'secret'], never)).toEqual([agent, { graph_id: 'secret' }]);
  expect(await describeGraphs(client, 'd', ['slow'], Promise.resolve())).toEqual([{ graph_id: 'slow' }]);
});

it('only the first graphs of a project are asked about', async () => {
  const asked: unknown[] = [];
  const client = await servePlatform((req, res) => {
    asked.push(req.url);
    res.writeHead(404).end('{}');
  });
  const graphs = Array.from({ length: 200 }, (_, index) => `graph-${index}`);
  expect((await describeGraphs(client, 'd', graphs, never)).map(({ graph_id }) => graph_id)).toEqual(
    graphs.slice(0, 8),
  );
  expect(asked).toHaveLength(8);
});
