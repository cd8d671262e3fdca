import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { executionRequest, type HostUnderTest, memoryBackends, runToEnd, startHost } from '../test/host-under-test.ts';

interface TracedRun {
  id: string;
  session_name: string;
  reference_example_id?: string;
}

const posted: TracedRun[] = [];
let arrived = () => {};
/** A fake LangSmith server with the endpoints that a tracer needs. */
const langsmith = createServer(async (req, res) => {
  const body = await text(req);
  if (req.url?.endsWith('/runs/batch')) {
    posted.push(...((JSON.parse(body) as { post?: TracedRun[] }).post ?? []));
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
    arrived = () => posted.some(({ id }) => id === request.runId) && resolve();
  });
  await runToEnd(host, request, memoryBackends());
  await isThere;
  expect(posted.find(({ id }) => id === request.runId)).toMatchObject({
    session_name: 'mine',
    reference_example_id: tracing.exampleId,
  });
  expect(new Set(posted.map((run) => run.session_name))).toEqual(new Set(['mine']));
});
