import Type from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse, Uuid } from '../common.ts';
import { Cron, CronCountRequest, CronCreate, CronPatch, CronSearch, ThreadCronCreate } from './crons.ts';
import { PAGINATION_HEADERS } from './parts.ts';
import { EXAMPLE_THREAD_ID, THREAD_PARAMS } from './threads.ts';

const ASSISTANT_ID = '046b5dc7-2108-582c-9c6c-31d556d138f0';
const asked = { schedule: '0 9 * * MON-FRI', timezone: 'America/New_York', input: { topic: 'news' } };
const exampleCron: Cron = {
  cron_id: '01a1c7e0-11a2-7b33-8c44-5d55e66f7788',
  assistant_id: ASSISTANT_ID,
  thread_id: null,
  on_run_completed: 'delete',
  end_time: null,
  schedule: asked.schedule,
  timezone: asked.timezone,
  created_at: '2026-11-20T20:18:31.041459+00:00',
  updated_at: '2026-11-20T20:18:31.041459+00:00',
  user_id: '',
  payload: { ...asked, assistant_id: ASSISTANT_ID },
  next_run_date: '2026-11-23T14:00:00.000000+00:00',
  metadata: {},
  enabled: true,
  is_enabled: true,
};
const params = Type.Object({ cron_id: Uuid });
const exampleParams = { cron_id: exampleCron.cron_id };

const cron = { description: 'The cron.', schema: Cron, example: exampleCron };
const both = { description: 'Both `config.configurable` and `context` are given.', schema: ErrorResponse };
const notFound = { description: 'No such cron.', schema: ErrorResponse };
const invalid = {
  description: 'The request is not as described here: the schedule, its time zone, the webhook among it.',
  schema: ErrorResponse,
};
const common = { tags: ['Crons'], access: 'principal' as const };

export const createCron = defineCreation('crons', {
  ...common,
  operationId: 'createCron',
  method: 'post',
  path: '/runs/crons',
  permission: 'runs:create',
  summary: 'Make runs by a schedule, each on a thread of its own',
  body: CronCreate,
  responses: {
    200: cron,
    400: both,
    404: { description: 'No such assistant.', schema: ErrorResponse },
    422: invalid,
  },
  examples: { body: { ...asked, assistant_id: 'echo' } },
});

export const createThreadCron = defineCreation('crons', {
  ...common,
  operationId: 'createThreadCron',
  method: 'post',
  path: '/threads/{thread_id}/runs/crons',
  permission: 'runs:create',
  summary: 'Make runs on a thread by a schedule',
  params: THREAD_PARAMS,
  body: ThreadCronCreate,
  responses: {
    200: { ...cron, example: { ...exampleCron, thread_id: EXAMPLE_THREAD_ID, on_run_completed: null } },
    400: both,
    404: { description: 'No such thread or assistant.', schema: ErrorResponse },
    422: invalid,
  },
  examples: { params: { thread_id: EXAMPLE_THREAD_ID }, body: { ...asked, assistant_id: 'echo' } },
});

export const searchCrons = defineOperation({
  ...common,
  operationId: 'searchCrons',
  method: 'post',
  path: '/runs/crons/search',
  permission: 'runs:read',
  summary: 'Search crons',
  body: CronSearch,
  bodyOptional: true,
  responses: {
    200: {
      description: 'One page of crons, newest first unless sorted otherwise.',
      schema: Type.Array(Type.Partial(Cron)),
      headers: PAGINATION_HEADERS,
      example: [exampleCron],
    },
    422: { ...invalid, description: 'The request is not as described here.' },
  },
  examples: { body: { enabled: true, sort_by: 'next_run_date', sort_order: 'asc', limit: 10 } },
});

export const countCrons = defineOperation({
  ...common,
  operationId: 'countCrons',
  method: 'post',
  path: '/runs/crons/count',
  permission: 'runs:read',
  summary: 'Count crons',
  body: CronCountRequest,
  bodyOptional: true,
  responses: {
    200: { description: 'How many match.', schema: Type.Integer(), example: 1 },
    422: { ...invalid, description: 'The request is not as described here.' },
  },
  examples: { body: { assistant_id: ASSISTANT_ID } },
});

const read = {
  ...common,
  method: 'get' as const,
  permission: 'runs:read' as const,
  summary: 'Get a cron',
  params,
  responses: {
    200: cron,
    404: notFound,
    422: { ...invalid, description: 'The id is no UUID.' },
  },
  examples: { params: exampleParams },
};
const change = {
  ...common,
  method: 'patch' as const,
  permission: 'runs:update' as const,
  summary: 'Change a cron: metadata is merged, every other field replaced',
  params,
  body: CronPatch,
  responses: {
    200: cron,
    400: { ...both, description: 'The body is empty, or both `config.configurable` and `context` would be set.' },
    404: notFound,
    422: invalid,
  },
  examples: { params: exampleParams, body: { schedule: '0 10 * * MON-FRI', metadata: { team: 'blue' } } },
};
const removal = {
  ...common,
  method: 'delete' as const,
  permission: 'runs:delete' as const,
  summary: 'Delete a cron; runs it has made go on',
  params,
  responses: {
    204: { description: 'Gone.' },
    404: notFound,
    422: { ...invalid, description: 'The id is no UUID.' },
  },
  examples: { params: exampleParams },
};

// SDKs use one spelling of the path, the published interface uses the other.
export const getCron = defineOperation({ ...read, operationId: 'getCron', path: '/runs/crons/{cron_id}' });
export const getCronAlias = defineOperation({ ...read, operationId: 'getCronAlias', path: '/crons/{cron_id}' });
export const updateCron = defineOperation({ ...change, operationId: 'updateCron', path: '/runs/crons/{cron_id}' });
export const updateCronAlias = defineOperation({ ...change, operationId: 'updateCronAlias', path: '/crons/{cron_id}' });
export const deleteCron = defineOperation({ ...removal, operationId: 'deleteCron', path: '/runs/crons/{cron_id}' });
export const deleteCronAlias = defineOperation({
  ...removal,
  operationId: 'deleteCronAlias',
  path: '/crons/{cron_id}',
});

export const CRON_OPERATIONS = [
  createCron,
  createThreadCron,
  searchCrons,
  countCrons,
  getCron,
  getCronAlias,
  updateCron,
  updateCronAlias,
  deleteCron,
  deleteCronAlias,
];
