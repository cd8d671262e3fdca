import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await startDeployment({ worker: 'real', env: { METRIC_PREFIX: 'shop_' } });
});
afterAll(() => deployment?.close());

interface RunsJson {
  runs: Record<string, number> & Record<string, { count: number; sum_ms: number }>;
}

const metrics = async () => (await ask(`${deployment.url}/metrics`)).text;
const sampleValue = (text: string, sample: string) =>
  Number(new RegExp(`^shop_${sample} (\\S+)$`, 'm').exec(text)?.[1]);
const labels = String.raw`\{project_id=".+",revision_id=".+",deployment_type=".+"\}`;

it('the metrics of a deployment report what its workers have done: runs by how they ended, and how long they waited and took', async () => {
  expect(sampleValue(await metrics(), `run_success_counter${labels}`)).toBe(0);
  const { runs } = deployment.client;
  const wait = (assistantId: string) => runs.wait(null, assistantId, { input: {}, raiseError: false });
  await Promise.all([wait('echo'), wait('echo'), wait('boom')]);

  const text = await waitFor(
    async () => {
      const answer = await metrics();
      const told = ['run_attempt_started', 'run_success', 'run_set_status_error'];
      const values = told.map((name) => sampleValue(answer, `${name}_counter${labels}`));
      return values.join() === '3,2,1' ? answer : undefined;
    },
    { what: 'the workers to have said what they did' },
  );
  expect(text).toContain('# TYPE shop_run_execution_latency histogram');
  for (const histogram of ['run_queue_wait_time_1st_attempt', 'run_execution_latency']) {
    expect(sampleValue(text, `${histogram}_count${labels}`)).toBe(3);
    expect(text).toMatch(new RegExp(`^shop_${histogram}_bucket\\{le="\\+Inf",.*\\} 3$`, 'm'));
  }

  const { runs: asJson } = (await ask(`${deployment.url}/metrics?format=json`)).json as RunsJson;
  expect(asJson).toMatchObject({
    attempts_started: 3,
    succeeded: 2,
    canceled: 0,
    failed: 1,
    queue_wait_time_1st_attempt: { count: 3, sum_ms: expect.any(Number) },
    execution_latency: { count: 3, sum_ms: expect.any(Number) },
  });
});

it('the metrics lack what only the database knows while it is away, and nothing else', async () => {
  await deployment.lines.postgres.refuse();
  const text = await waitFor(
    async () => {
      const answer = await metrics();
      return answer.includes('shop_run_success_counter{') ? undefined : answer;
    },
    { what: 'an answer without what only the database knows' },
  );
  expect(text).toContain('shop_open_streams{');
  expect((await ask(`${deployment.url}/metrics?format=json`)).json).toMatchObject({ runs: null, queue: null });
  await deployment.lines.postgres.heal();
});
