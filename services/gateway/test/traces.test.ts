import { once } from 'node:events';
import { request } from 'node:http';
import { TraceCollector } from '@runyard/test-kit';
import { deploymentRoute, FakeControlPlane, type FakeServer } from '@runyard/test-kit/fake-platform';
import { openTracing } from '@runyard/tracing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEchoDeployment } from './echo-deployment.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

const TRACE = 'a'.repeat(32);
const traceparent = `00-${TRACE}-${'b'.repeat(16)}-01`;
const langsmithTrace = '20261123T180000000000Z0199a7c2-0000-7000-8000-000000000001';

const collector = new TraceCollector();
let upstream: FakeServer;
let route: ReturnType<typeof deploymentRoute>;
beforeAll(async () => {
  await collector.open();
  upstream = await startEchoDeployment();
  route = deploymentRoute({ upstreams: [upstream.url] });
});
afterAll(async () => {
  await upstream.close();
  await collector.close();
});

async function withGateway<T>(isTracing: boolean, use: (base: string, key: string) => Promise<T>): Promise<T> {
  const controlPlane = await FakeControlPlane.start();
  controlPlane.routes.push(route);
  const variables = isTracing ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } : {};
  const tracing = await openTracing({ variables, serviceName: 'runyard-gateway' });
  const gateway: TestGateway = await startGateway({ controlPlane, tracing });
  try {
    await gateway.untilReady();
    const { key } = gateway.orgAccess.issue(route.workspace_id);
    return await use(`${gateway.url}/deployments/${route.deployment_id}`, key);
  } finally {
    await gateway.close();
    await tracing.close();
  }
}

async function headersAtUpstream(url: string, headers: Record<string, string>): Promise<Record<string, string>> {
  const answer = (await (await fetch(url, { headers })).json()) as { headers: Record<string, string> };
  return answer.headers;
}

it('the gateway continues the trace of its caller, and the deployment that of the gateway', async () => {
  const forwarded = await withGateway(true, async (base, key) => {
    await fetch(`${base}/threads`, { headers: { traceparent, 'x-api-key': 'wrong' } });
    return headersAtUpstream(`${base}/threads?secret=1`, { traceparent, tracestate: 'a=1', 'x-api-key': key });
  });
  const spans = collector.of(TRACE);
  const [refused, served] = spans;
  expect(served).toMatchObject({
    name: 'GET /deployments/{deployment}/…',
    kind: 'server',
    parentSpanId: 'b'.repeat(16),
    attributes: { 'http.response.status_code': 200, 'http.route': '/deployments/{deployment}/…' },
    resource: { 'service.name': 'runyard-gateway' },
  });
  expect(refused).toMatchObject({ attributes: { 'http.response.status_code': 401 }, error: undefined });
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toMatch(/secret|wrong/);
  expect(forwarded).toMatchObject({ traceparent: `00-${TRACE}-${served?.spanId}-01`, tracestate: 'a=1' });
});

it('an upgrade is traced as any request is, to the end of its connection', async () => {
  collector.spans.splice(0);
  await withGateway(true, async (base, key) => {
    const headers = { traceparent, 'x-api-key': key, connection: 'Upgrade', upgrade: 'websocket' };
    const [answer] = await once(request(`${base}/echo`, { headers }).end(), 'response');
    answer.resume();
    await once(answer, 'close');
  });
  expect(collector.of(TRACE)).toMatchObject([{ name: 'GET /deployments/{deployment}/…', kind: 'server' }]);
});

it('a gateway that makes no traces passes a valid context on, and no other', async () => {
  await withGateway(false, async (base, key) => {
    const valid = await headersAtUpstream(base, { traceparent, tracestate: 'a=1', 'x-api-key': key });
    expect(valid).toMatchObject({ traceparent, tracestate: 'a=1' });
    const invalid = await headersAtUpstream(base, { traceparent: 'hello', tracestate: 'a=1', 'x-api-key': key });
    expect(invalid).not.toHaveProperty('traceparent');
    expect(invalid).not.toHaveProperty('tracestate');
  });
});

it('baggage of callers ends at the gateway, but for what labels a trace of LangSmith', async () => {
  await withGateway(false, async (base, key) => {
    const baggage = 'user=ada,langsmith-replicas=%5B%5D,langsmith-tags=x,langsmith-project=mine';
    const alone = await headersAtUpstream(base, { baggage, 'x-api-key': key });
    expect(alone).not.toHaveProperty('baggage');
    const beside = await headersAtUpstream(base, { baggage, 'langsmith-trace': langsmithTrace, 'x-api-key': key });
    expect(beside).toMatchObject({
      'langsmith-trace': langsmithTrace,
      baggage: 'langsmith-tags=x,langsmith-project=mine',
    });
  });
});
