import Type from 'typebox';
import { defineOperation, type OperationResponse } from '../../operation.ts';
import { ErrorResponse } from '../common.ts';
import {
  RUN_PARAMS,
  Run,
  RunBatchCreate,
  RunCancelQuery,
  RunCreateStateful,
  RunCreateStateless,
  RunCreateStreamingStateful,
  RunCreateStreamingStateless,
  RunJoinQuery,
  RunListQuery,
  RunStreamQuery,
  RunsCancel,
  RunsCancelQuery,
  STATELESS_RUN_PARAMS,
} from './runs.ts';
import { EXAMPLE_THREAD_ID, THREAD_PARAMS } from './threads.ts';

const exampleRun: Run = {
  run_id: '01a1c7de-9a41-7a02-8f6d-5b1e2c3d4f50',
  thread_id: EXAMPLE_THREAD_ID,
  assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
  created_at: '2026-11-20T20:18:31.041459+00:00',
  updated_at: '2026-11-20T20:18:31.041459+00:00',
  status: 'pending',
  metadata: { created_by: 'system', graph_id: 'echo', assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0' },
  kwargs: { input: { messages: [{ role: 'user', content: 'hi' }] }, stream_mode: ['values'] },
  multitask_strategy: 'enqueue',
};
const exampleInput = { assistant_id: 'echo', input: { messages: [{ role: 'user', content: 'hi' }] } };
const threadParams = { thread_id: EXAMPLE_THREAD_ID };
const runParams = { ...threadParams, run_id: exampleRun.run_id };

const located = {
  Location: 'Where to go on reading the answer.',
  'Content-Location': 'The run.',
};
const failures: Record<number, OperationResponse> = {
  400: { description: 'Both `config.configurable` and `context` are given.', schema: ErrorResponse },
  404: { description: 'No such thread or assistant.', schema: ErrorResponse },
  409: { description: 'The thread is busy and the strategy is `reject`.', schema: ErrorResponse },
  422: { description: 'The request is not as described here.', schema: ErrorResponse },
};
const notFound: Record<number, OperationResponse> = {
  404: { description: 'No such run.', schema: ErrorResponse },
  422: failures[422]!,
};
const created: OperationResponse = {
  description: 'The run, accepted and durable.',
  schema: Run,
  headers: { 'Content-Location': located['Content-Location'] },
  example: exampleRun,
};
const streamed: OperationResponse = {
  description:
    'Server-sent events: `metadata` first, then one per chunk named for its stream mode, `error` when the run fails.',
  contentType: 'text/event-stream',
  schema: Type.String(),
  headers: located,
  example: `event: metadata\r\ndata: {"run_id":"${exampleRun.run_id}","attempt":1}\r\n\r\n`,
};
const values: OperationResponse = {
  description:
    'The final values, after any number of line feeds sent as a sign of life. A failed run answers `{"__error__": {"error", "message"}}`.',
  schema: Type.Unknown(),
  headers: located,
  example: { messages: [{ type: 'human', content: 'hi' }] },
};

const onThread = { tags: ['Thread Runs'], access: 'principal' as const };
const stateless = { tags: ['Stateless Runs'], access: 'principal' as const };

export const createRun = defineOperation({
  ...onThread,
  operationId: 'createRun',
  method: 'post',
  path: '/threads/{thread_id}/runs',
  permission: 'runs:create',
  summary: 'Start a run in the background',
  params: THREAD_PARAMS,
  body: RunCreateStateful,
  responses: { 200: created, ...failures },
  examples: { params: threadParams, body: { ...exampleInput, multitask_strategy: 'enqueue' } },
});

export const streamRun = defineOperation({
  ...onThread,
  operationId: 'streamRun',
  method: 'post',
  path: '/threads/{thread_id}/runs/stream',
  permission: 'runs:create',
  summary: 'Start a run and stream its output',
  params: THREAD_PARAMS,
  body: RunCreateStreamingStateful,
  responses: { 200: streamed, ...failures },
  examples: { params: threadParams, body: { ...exampleInput, stream_mode: ['updates', 'messages-tuple'] } },
});

export const waitRun = defineOperation({
  ...onThread,
  operationId: 'waitRun',
  method: 'post',
  path: '/threads/{thread_id}/runs/wait',
  permission: 'runs:create',
  summary: 'Start a run and wait for its result',
  params: THREAD_PARAMS,
  body: RunCreateStreamingStateful,
  responses: { 200: values, ...failures },
  examples: { params: threadParams, body: exampleInput },
});

export const listRuns = defineOperation({
  ...onThread,
  operationId: 'listRuns',
  method: 'get',
  path: '/threads/{thread_id}/runs',
  permission: 'runs:read',
  summary: 'Runs of a thread, newest first',
  params: THREAD_PARAMS,
  query: RunListQuery,
  responses: {
    200: { description: 'The runs.', schema: Type.Array(Type.Partial(Run)), example: [exampleRun] },
    ...notFound,
  },
  examples: { params: threadParams, query: { limit: 10, status: 'success' } },
});

export const getRun = defineOperation({
  ...onThread,
  operationId: 'getRun',
  method: 'get',
  path: '/threads/{thread_id}/runs/{run_id}',
  permission: 'runs:read',
  summary: 'Get a run',
  params: RUN_PARAMS,
  responses: { 200: { description: 'The run.', schema: Run, example: exampleRun }, ...notFound },
  examples: { params: runParams },
});

export const deleteRun = defineOperation({
  ...onThread,
  operationId: 'deleteRun',
  method: 'delete',
  path: '/threads/{thread_id}/runs/{run_id}',
  permission: 'runs:delete',
  summary: 'Delete a run; one that is running is stopped',
  params: RUN_PARAMS,
  responses: { 204: { description: 'Gone.' }, ...notFound },
  examples: { params: runParams },
});

export const joinRun = defineOperation({
  ...onThread,
  operationId: 'joinRun',
  method: 'get',
  path: '/threads/{thread_id}/runs/{run_id}/join',
  permission: 'runs:read',
  summary: 'Wait for the result of a run',
  params: RUN_PARAMS,
  query: RunJoinQuery,
  responses: { 200: values, 422: failures[422]! },
  examples: { params: runParams, query: { cancel_on_disconnect: '0' } },
});

const lastEventId =
  'With `Last-Event-ID` what came after that event, `-1` for all that is kept; without it only what comes from now on.';

export const joinRunStream = defineOperation({
  ...onThread,
  operationId: 'joinRunStream',
  method: 'get',
  path: '/threads/{thread_id}/runs/{run_id}/stream',
  permission: 'runs:read',
  summary: `Stream the output of a run. ${lastEventId}`,
  headers: { 'last-event-id': 'Only events after this one; `-1` or `0` for all that are kept.' },
  params: RUN_PARAMS,
  query: RunStreamQuery,
  responses: { 200: streamed, 422: failures[422]! },
  examples: { params: runParams, query: { stream_mode: 'updates,values' } },
});

export const joinRunStreamAlias = defineOperation({
  ...joinRunStream,
  operationId: 'joinRunStreamAlias',
  path: '/threads/{thread_id}/runs/{run_id}/join-stream',
});

export const cancelRun = defineOperation({
  ...onThread,
  operationId: 'cancelRun',
  method: 'post',
  path: '/threads/{thread_id}/runs/{run_id}/cancel',
  permission: 'runs:update',
  summary: 'Cancel a run',
  params: RUN_PARAMS,
  query: RunCancelQuery,
  responses: {
    200: { description: 'With `wait`: ended; its last values.', schema: Type.Unknown(), example: {} },
    202: { description: 'Cancellation is under way, and will happen whatever else does.' },
    ...notFound,
  },
  examples: { params: runParams, query: { wait: '1', action: 'interrupt' } },
});

export const cancelRuns = defineOperation({
  ...onThread,
  operationId: 'cancelRuns',
  method: 'post',
  path: '/runs/cancel',
  permission: 'runs:update',
  summary: 'Cancel several runs, by id or by status',
  query: RunsCancelQuery,
  body: RunsCancel,
  responses: { 204: { description: 'Cancellation is under way.' }, ...notFound },
  examples: { query: { action: 'interrupt' }, body: { status: 'pending' } },
});

export const createStatelessRun = defineOperation({
  ...stateless,
  operationId: 'createStatelessRun',
  method: 'post',
  path: '/runs',
  permission: 'runs:create',
  summary: 'Start a run without a thread',
  body: RunCreateStateless,
  responses: { 200: created, ...failures },
  examples: { body: exampleInput },
});

export const createRunBatch = defineOperation({
  ...stateless,
  operationId: 'createRunBatch',
  method: 'post',
  path: '/runs/batch',
  permission: 'runs:create',
  summary: 'Start several runs without threads',
  body: RunBatchCreate,
  responses: {
    200: { description: 'The runs, in the order asked for.', schema: Type.Array(Run), example: [exampleRun] },
    ...failures,
  },
  examples: { body: [exampleInput] },
});

export const streamStatelessRun = defineOperation({
  ...stateless,
  operationId: 'streamStatelessRun',
  method: 'post',
  path: '/runs/stream',
  permission: 'runs:create',
  summary: 'Start a run without a thread and stream its output',
  body: RunCreateStreamingStateless,
  responses: { 200: streamed, ...failures },
  examples: { body: { ...exampleInput, stream_mode: 'updates' } },
});

export const waitStatelessRun = defineOperation({
  ...stateless,
  operationId: 'waitStatelessRun',
  method: 'post',
  path: '/runs/wait',
  permission: 'runs:create',
  summary: 'Start a run without a thread and wait for its result',
  body: RunCreateStreamingStateless,
  responses: { 200: values, ...failures },
  examples: { body: exampleInput },
});

export const getStatelessRun = defineOperation({
  ...stateless,
  operationId: 'getStatelessRun',
  method: 'get',
  path: '/runs/{run_id}',
  permission: 'runs:read',
  summary: 'Get a run by its id alone',
  params: STATELESS_RUN_PARAMS,
  responses: { 200: { description: 'The run.', schema: Run, example: exampleRun }, ...notFound },
  examples: { params: { run_id: exampleRun.run_id } },
});

export const joinStatelessRunStream = defineOperation({
  ...stateless,
  operationId: 'joinStatelessRunStream',
  method: 'get',
  path: '/runs/{run_id}/stream',
  permission: 'runs:read',
  summary: `Stream the output of a run by its id alone. ${lastEventId}`,
  headers: { 'last-event-id': 'Only events after this one; `-1` or `0` for all that are kept.' },
  params: STATELESS_RUN_PARAMS,
  query: RunStreamQuery,
  responses: { 200: streamed, 422: failures[422]! },
  examples: { params: { run_id: exampleRun.run_id } },
});

export const RUN_OPERATIONS = [
  createRun,
  streamRun,
  waitRun,
  listRuns,
  getRun,
  deleteRun,
  joinRun,
  joinRunStream,
  joinRunStreamAlias,
  cancelRun,
  cancelRuns,
  createStatelessRun,
  createRunBatch,
  streamStatelessRun,
  waitStatelessRun,
  getStatelessRun,
  joinStatelessRunStream,
];
