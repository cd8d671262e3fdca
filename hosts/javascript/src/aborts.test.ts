import { afterAll, beforeAll, expect, it } from 'vitest';
import { executionRequest, type HostUnderTest, startHost, startRun } from '../test/host-under-test.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host.close());

const PLACES = {
  node: 'node',
  runnable: 'runnable',
  implicit: 'runnable',
  tool: 'tool',
  toolNode: 'tool of a ToolNode',
  subgraph: 'node of a subgraph',
  invokedGraph: 'node of a subgraph',
  subgraphTool: 'tool in a subgraph',
};

it.each(
  Object.entries(PLACES).flatMap(([where, who]) =>
    [['values'], ['events', 'messages-tuple']].map((streamModes) => [where, who, streamModes] as const),
  ),
)('an abort reaches code in %s (%s), streamed as %s', async (where, who, streamModes) => {
  const request = executionRequest('waiting', {
    input: { where },
    streamModes: [...streamModes],
    streamSubgraphs: true,
  });
  const logged = (text: string) => host.nextLog(({ message, runId }) => runId === request.runId && message === text);
  const waits = logged(`${who} waits with a signal`);
  const saw = logged(`${who} saw the abort: AbortError: cancelled by the user`);
  const run = startRun(host, request);
  await waits;
  run.abort('cancelled by the user');
  expect(await run.settled).toMatchObject({ kind: 'aborted' });
  await saw;
});
