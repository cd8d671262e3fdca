/**
 * Measures the gateway by itself: small requests of one key to a deployment that answers at once. Run it with `npx tsx
 * services/gateway/test/load.ts [clients] [seconds]` after the service is built; each part is its own process.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { startServiceProcess } from '@runyard/test-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  FakeOrgAccess,
  INTERNAL_TOKEN,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';

if (process.argv[2] === 'upstream') await answerRequests();
else await measure(Number(process.argv[2] ?? 32), Number(process.argv[3] ?? 5));

async function answerRequests(): Promise<void> {
  const body = JSON.stringify({ thread_id: '0199f0a4-3b50-7a11-8c3e-4b6d7e8f9a05', status: 'idle' });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const { url } = await startFakeServer((req, res) => {
    req.resume();
    res.writeHead(200, headers).end(body);
  });
  process.send!(url);
}

async function measure(clients: number, seconds: number): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ['upstream']);
  const [upstream] = (await once(child, 'message')) as [string];
  const [orgAccess, controlPlane] = [await FakeOrgAccess.start(), await FakeControlPlane.start()];
  const route = deploymentRoute({ upstreams: [upstream] });
  controlPlane.routes.push(route);
  const { key } = orgAccess.issue(route.workspace_id);
  const gateway = await startServiceProcess({
    entry: fileURLToPath(new URL('../dist/main.js', import.meta.url)),
    env: {
      ORG_ACCESS_URL: orgAccess.url,
      CONTROL_PLANE_URL: controlPlane.url,
      EVENT_BUS: 'redis',
      EVENT_BUS_REDIS_URI: 'redis://127.0.0.1:1',
      LOG_LEVEL: 'error',
    },
    secrets: { INTERNAL_TOKEN },
    readyPath: '/ok?check_db=1',
  });
  await report('straight to the deployment', `${upstream}/threads`, {}, clients, seconds);
  const cpuBefore = await cpuSeconds(gateway.url);
  const requests = await report(
    'through the gateway',
    `${gateway.url}/deployments/${route.deployment_id}/threads`,
    { 'x-api-key': key },
    clients,
    seconds,
  );
  const cpu = (await cpuSeconds(gateway.url)) - cpuBefore;
  console.log(
    `gateway: ${Math.round((cpu / requests) * 1e6)} µs of CPU per request, ${Math.round(requests / cpu)} requests per core and second`,
  );
  await gateway.stop();
  child.kill();
  await Promise.all([orgAccess.close(), controlPlane.close()]);
}

async function report(
  what: string,
  url: string,
  headers: Record<string, string>,
  clients: number,
  seconds: number,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const body = JSON.stringify({ metadata: {} });
  await Promise.all(Array.from({ length: clients * 20 }, () => post(url, agent, headers, body)));
  const latencies: number[] = [];
  const until = performance.now() + seconds * 1000;
  const work = async () => {
    while (performance.now() < until) {
      const startedAt = performance.now();
      await post(url, agent, headers, body);
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]!.toFixed(2);
  console.log(
    `${what}: ${Math.round(latencies.length / seconds)} requests/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${clients} clients)`,
  );
  return latencies.length;
}

function post(url: string, agent: Agent, headers: Record<string, string>, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const length = String(Buffer.byteLength(body));
    const req = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': length },
    });
    req.on('error', reject);
    req.on('response', (res) => {
      if (res.statusCode !== 200) reject(new Error(`status ${res.statusCode}`));
      res.resume().on('end', resolve);
    });
    req.end(body);
  });
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${INTERNAL_TOKEN}` } })).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
}
