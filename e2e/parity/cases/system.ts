import { expect } from 'vitest';
import { fieldCase, statusCase } from '../framework/index.ts';

const HEALTH = ['getHealth', 'getRoot'];

export const cases = [
  statusCase({
    operation: 'getInfo',
    status: 200,
    promise: 'tells the level of the API and what the server can do',
    run: async ({ call }) => {
      const answer = await call('getInfo');
      expect(answer.body.version).toMatch(/^0\.\d+\.\d+/);
      expect(answer.body.flags).toMatchObject({ assistants: true, crons: true });
      return answer;
    },
  }),
  fieldCase({
    operations: HEALTH,
    field: 'query.check_db',
    promise: 'asked whether it is ready, it says what it leans on',
    run: async ({ call, operation }) => {
      const { body } = await call(operation, { query: { check_db: '1' } });
      expect(body).toMatchObject({
        ok: true,
        services: { database: 'ok', redis: 'ok', js_runtime: 'ok', core_api: 'ok' },
      });
    },
  }),
  ...HEALTH.map((operation) =>
    statusCase({
      operation,
      status: 200,
      promise: 'is alive',
      run: async ({ call }) => {
        const answer = await call(operation);
        expect(answer.body).toEqual({ ok: true, services: {} });
        return answer;
      },
    }),
  ),
  fieldCase({
    operations: ['getMetrics'],
    field: 'query.format',
    promise: 'metrics come as JSON too',
    run: async ({ open }) => {
      const response = await open('getMetrics', { query: { format: 'json' } });
      expect(await response.text()).toMatch(/^\{"queue":\{"n_pending":\d/);
    },
  }),
  statusCase({
    operation: 'getMetrics',
    status: 200,
    promise: 'metrics tell of queue, workers and runs, with the labels that tell deployments apart',
    run: async ({ call }) => {
      const answer = await call('getMetrics');
      expect(answer.text).toMatch(
        /^lg_api_num_pending_runs\{project_id=".+",revision_id=".+",deployment_type=".+"\} \d/m,
      );
      expect(answer.text).toMatch(/^lg_api_run_success_counter\{.+\} \d/m);
      expect(answer.text).toMatch(/^lg_api_run_queue_wait_time_1st_attempt_count\{.+\} \d/m);
      return answer;
    },
  }),
  statusCase({
    operation: 'getOpenApi',
    status: 200,
    promise: 'describes every operation',
    run: async ({ call }) => {
      const answer = await call('getOpenApi');
      expect(Object.keys(answer.body.paths).length).toBeGreaterThan(40);
      return answer;
    },
  }),
  statusCase({
    operation: 'getDocs',
    status: 200,
    promise: 'is a page that needs no other server',
    run: async ({ call }) => {
      const answer = await call('getDocs');
      expect(answer.text).toContain('/threads/{thread_id}/runs/stream');
      expect(answer.text).not.toMatch(/<script|(src|href)="https?:/);
      return answer;
    },
  }),
];
