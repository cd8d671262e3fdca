import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { executionRequest, type HostUnderTest, memoryBackends, runToEnd, startHost } from '../test/host-under-test.ts';

interface TracedRun {
  id: string;
  session_name: string;
  reference_example_id?: string;
  parent_run_id?: string | null;
  trace_id?: string;
  extra?: { metadata?: { run_id?: string } };
}

/** The runs that the server has got, by id: their beginning, and what was added at their end. */
const traced = new Map<string, TracedRun>();
let arrived = () => {};
/** A fake LangSmith server with the endpoints that a tracer needs. */
const langsmith = createServer(async (req, res) => {
  const body = await text(req);
  if (req.url?.endsWith('/runs/batch')) {
    const { post = [], patch = [] } = JSON.parse(body) as Record<'post' | 'patch', TracedRun[] | undefined>;
    for (const run of [...post, ...patch]) traced.set(run.id, { ...traced.get(run.id), ...run });
    arrived();
  }
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify({ batch_ingest_config: { use_multipart_endpoint: false } }));
});
let host: HostUnderTest;
beforeAll(async () => {
  await new Promise<void>((resolve) => langsmith.listen(0, '127.0.0.1', resolve));
  host = await startHost('basic', {
    environment: {
      LANGSMITH_TRACING: 'true',
      LANGSMITH_API_KEY: 'test',
      LANGSMITH_ENDPOINT: `http://127.0.0.1:${(langsmith.address() as AddressInfo).port}`,
      LANGSMITH_PROJECT: 'of-the-environment',
    },
  });
});
afterAll(async () => {
  await host?.close();
  langsmith.closeAllConnections();
  langsmith.close();
});

it('a run sends its trace to the requested LangSmith project and example', async () => {
  const tracing = { project: 'mine', exampleId: '01a1c7de-9a41-7a02-8f6d-5b1e2c3d4f50' };
  const request = executionRequest('echo', { input: { messages: [] }, tracing });
  const isThere = new Promise<void>((resolve) => {
    arrived = () => traced.get(request.runId)?.reference_example_id !== undefined && resolve();
  });
  await runToEnd(host, request, memoryBackends());
  await isThere;
  expect(traced.get(request.runId)).toMatchObject({
    session_name: 'mine',
    reference_example_id: tracing.exampleId,
  });
});

it('the project of the environment gets the trace of a run that names another one too, without its example', async () => {
  const tracing = { project: 'mine', exampleId: '01a1c7de-9a41-7a02-8f6d-5b1e2c3d4f50' };
  const request = executionRequest('echo', { input: { messages: [] }, tracing });
  const copies = () => [...traced.values()].filter(({ extra }) => extra?.metadata?.run_id === request.runId);
  const isThere = new Promise<void>((resolve) => {
    arrived = () => copies().some(({ session_name }) => session_name === 'of-the-environment') && resolve();
  });
  await runToEnd(host, request, memoryBackends());
  await isThere;
  const roots = copies().filter(({ parent_run_id }) => parent_run_id == null);
  expect(new Set(roots.map((run) => run.session_name))).toEqual(new Set(['mine', 'of-the-environment']));
  const copy = roots.find((run) => run.session_name === 'of-the-environment');
  expect(copy).not.toHaveProperty('reference_example_id', tracing.exampleId);
});

it('the trace of a run goes on below the trace that its caller names, in the project of that', async () => {
  const [traceId, parentId] = ['0199a7c2-0000-7000-8000-000000000001', '0199a7c2-0000-7000-8000-000000000002'];
  const trace = `20261123T180000000000Z${traceId}.20261123T180001000000Z${parentId}`;
  const tracing = { project: 'of-the-environment', parent: { trace, baggage: 'langsmith-project=of-the-caller' } };
  const request = executionRequest('tokens', { input: { messages: [] }, tracing, streamModes: ['messages', 'events'] });
  const isThere = new Promise<void>((resolve) => {
    arrived = () => traced.has(request.runId) && resolve();
  });
  const { outcome } = await runToEnd(host, request, memoryBackends());
  expect(outcome.kind).toBe('done');
  await isThere;
  expect(traced.get(request.runId)).toMatchObject({
    session_name: 'of-the-caller',
    trace_id: traceId,
    parent_run_id: parentId,
  });
});
