import { TraceCollector } from '@runyard/test-kit';
import { openTracing, TRACING_OFF, type Tracing } from '@runyard/tracing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createContext } from '../service.ts';
import { createApp } from './app.ts';
import { listen } from './listen.ts';

const TRACE = 'a'.repeat(32);
const traceparent = `00-${TRACE}-${'b'.repeat(16)}-01`;
const langsmithTrace = '20261123T180000000000Z0199a7c2-0000-7000-8000-000000000001';

const collector = new TraceCollector();
beforeAll(() => collector.open());
afterAll(() => collector.close());

/** Sends requests to a service that answers with the headers that its parts see. */
async function answersOf(tracing: Tracing, requests: [path: string, headers: Record<string, string>][]) {
  const context = createContext('test', { LOG_LEVEL: 'silent', processMetrics: false, tracing });
  const app = createApp({
    context,
    operations: [],
    after: [
      (req, res) => {
        res.locals.route = '/echo';
        if (req.path === '/broken') throw new Error('secret');
        res.json(req.headers);
      },
    ],
  });
  const { url } = await listen(app, { host: '127.0.0.1', port: 0, context });
  const answers: Record<string, string>[] = [];
  for (const [path, headers] of requests) {
    answers.push((await (await fetch(url + path, { headers })).json()) as Record<string, string>);
  }
  await context.lifecycle.stop('the test is over');
  await tracing.close();
  return answers;
}

it('each request has a span with its route and status, and one that failed says with which code', async () => {
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const tracing = await openTracing({ variables, serviceName: 'test' });
  await answersOf(tracing, [
    ['/echo/1?token=secret', { traceparent }],
    ['/broken', { traceparent }],
    ['/ok', { traceparent }],
  ]);
  const spans = collector.of(TRACE);
  expect(spans).toMatchObject([
    {
      name: 'GET /echo',
      kind: 'server',
      parentSpanId: 'b'.repeat(16),
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/echo',
        'http.response.status_code': 200,
        'url.path': '/echo/1',
      },
      error: undefined,
    },
    {
      name: 'GET /echo',
      attributes: { 'http.response.status_code': 500, 'error.type': 'internal_error' },
      error: expect.anything(),
    },
  ]);
  expect(JSON.stringify(spans.map(({ attributes, error }) => [attributes, error]))).not.toContain('secret');
});

it('a service believes no baggage but what labels a trace of LangSmith', async () => {
  const baggage = 'user=ada,langsmith-replicas=x,langsmith-tags=y';
  const [alone, beside] = await answersOf(TRACING_OFF, [
    ['/echo', { baggage }],
    ['/echo', { baggage, 'langsmith-trace': langsmithTrace }],
  ]);
  expect(alone).not.toHaveProperty('baggage');
  expect(beside).toMatchObject({ baggage: 'langsmith-tags=y' });
});
